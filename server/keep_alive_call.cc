#include "server/keep_alive_call.h"

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "core/validation.h"
#include "server/convert.h"
#include "server/status.h"

namespace tenure {
namespace {

constexpr size_t kUnsentResponsesMax =
    10'000;  // a client that reads slower than this loses its stream
constexpr size_t kSessionsPerStreamMax = 100'000;

// One request at a time is answered; the next is read then. So a stream holds one request, and
// notices up to a bound.
class KeepAliveCall final
    : public grpc::ServerBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>,
      public Watcher,
      public std::enable_shared_from_this<KeepAliveCall> {
 public:
  explicit KeepAliveCall(Engine& engine) : engine_(engine) {}

  void Start() {
    self_ = shared_from_this();
    auto joined = engine_.hub().Join(shared_from_this());
    if (!joined) {
      const std::lock_guard lock(mutex_);
      return FinishWith(joined.error());
    }
    membership_ = std::move(*joined);
    StartRead(&request_);
  }

  // Watcher

  void OnEvent(const std::shared_ptr<const Event>& event) override {
    v1::KeepAliveResponse response;
    v1::SeatNotice& notice = *response.mutable_notice();
    notice.set_session_id(event->leader.session.Hex());
    notice.set_election(event->election.bytes);
    if (event->type == EventType::kElected) {
      *notice.mutable_elected() = ToProto(Leadership{event->election, event->term, event->leader});
    } else if (event->type == EventType::kVacated) {
      notice.mutable_lost()->set_term(event->term.value);
      notice.mutable_lost()->set_cause(ToProto(event->cause));
    } else if (event->type == EventType::kHandoverAsked) {
      notice.mutable_step_down()->set_term(event->term.value);
      notice.mutable_step_down()->set_successor(event->successor);
    } else {
      return;
    }
    const std::lock_guard lock(mutex_);
    Send(std::move(response));
  }

  void OnSessionEnded(const Session& session) override {
    v1::KeepAliveResponse response;
    response.mutable_session_ended()->set_session_id(session.id.Hex());
    response.mutable_session_ended()->set_cause(ToProto(session.ended));
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    gone_.insert(session.id);
    Send(std::move(response));
  }

  // The seats that the client was told of may be others' by now: a new stream asks for them anew.
  void OnReset() override {
    const std::lock_guard lock(mutex_);
    FinishWith({Reason::kStoreUnavailable, "the database was replaced or restored"});
  }

  void OnDrain() override {
    const std::lock_guard lock(mutex_);
    FinishWith({Reason::kDraining, "this replica is shutting down; the sessions stay alive"});
  }

  // Reactor

  void OnReadDone(bool ok) override {
    if (!ok) {  // the client is done, or gone
      const std::lock_guard lock(mutex_);
      no_more_requests_ = true;
      FinishIfAllSent();
      return;
    }
    auto ids = ParseIds();
    if (!ids) {
      const std::lock_guard lock(mutex_);
      return FinishWith(ids.error());
    }
    auto gone = ForgetGoneExcept({ids->begin(), ids->end()});
    auto answer = std::make_shared<PendingAnswer>();
    answer->renewal.set_sequence(request_.sequence());
    answer->left = ids->size();
    for (const SessionId& id : *ids) {
      // Watched before it is read, so that nothing falls between.
      const bool added = membership_.Add(WatchSession{id});
      if (added || gone.erase(id) > 0) answer->first_time.push_back(id);
      answer->renewal.add_sessions()->set_session_id(id.Hex());
    }
    if (membership_.watches() > kSessionsPerStreamMax) {
      const std::lock_guard lock(mutex_);
      return FinishWith(
          {Reason::kOverloaded,
           "a stream can renew at most " + std::to_string(kSessionsPerStreamMax) + " sessions"});
    }
    for (size_t i = 0; i < ids->size(); ++i) {
      engine_.Renew((*ids)[i], [self = shared_from_this(), answer, i](Result<Session> renewed) {
        self->OnRenewed(answer, static_cast<int>(i), std::move(renewed));
      });
    }
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) return Finish(grpc::Status::CANCELLED);
    unsent_.pop_front();
    WriteNext();
    FinishIfAllSent();
  }

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    membership_.Leave();
    self_.reset();
  }

 private:
  // The answer to one request while it is put together.
  struct PendingAnswer {
    std::mutex mutex;
    v1::Renewal renewal;
    size_t left = 0;  // sessions that are not renewed yet
    std::optional<Error> error;
    std::vector<SessionId> first_time;
  };

  Result<std::vector<SessionId>> ParseIds() const {
    if (request_.session_ids().empty()) {
      return Fail(Reason::kInvalidSessionId,
                  "the request names no session; it must name at least one");
    }
    if (static_cast<size_t>(request_.session_ids_size()) > kSessionsPerRenewalMax) {
      return Fail(Reason::kInvalidSessionId,
                  "the request names " + std::to_string(request_.session_ids_size()) +
                      " sessions; the maximum is " + std::to_string(kSessionsPerRenewalMax));
    }
    std::vector<SessionId> ids;
    for (const std::string& hex : request_.session_ids()) {
      const auto id = ParseSessionId(hex);
      if (!id) return tl::unexpected(id.error());
      ids.push_back(*id);
    }
    return ids;
  }

  // What is over, or was never there, takes no room: clients make many sessions on one stream.
  // Answers with those that are asked for again, as if for the first time.
  std::set<SessionId> ForgetGoneExcept(const std::set<SessionId>& wanted) {
    std::set<SessionId> gone;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(gone_);
    }
    std::erase_if(gone, [&](const SessionId& id) {
      if (wanted.contains(id)) return false;
      membership_.Remove(WatchSession{id});
      return true;
    });
    return gone;
  }

  void OnRenewed(const std::shared_ptr<PendingAnswer>& answer, int index, Result<Session> renewed) {
    {
      const std::lock_guard lock(answer->mutex);
      v1::SessionRenewal& session = *answer->renewal.mutable_sessions(index);
      if (renewed) {
        *session.mutable_lease_ttl() = ToProto(renewed->lease_ttl);
        *session.mutable_heartbeat_interval() = HeartbeatInterval(*renewed);
      } else if (renewed.error().reason == Reason::kSessionEnded) {
        v1::Cause cause = v1::CAUSE_UNSPECIFIED;
        (void)v1::Cause_Parse("CAUSE_" + renewed.error().metadata.at("cause"), &cause);
        session.set_ended(cause);
      } else if (renewed.error().reason == Reason::kSessionNotFound) {
        session.set_not_found(true);
      } else {
        answer->error = renewed.error();
      }
      if (--answer->left > 0) return;
    }
    if (answer->error || answer->first_time.empty()) return Answer(*answer);
    engine_.ReadSeats(answer->first_time, [self = shared_from_this(), answer](auto seats) {
      if (!seats) {
        answer->error = seats.error();
      } else {
        AddSeats(*seats, answer->renewal);
      }
      self->Answer(*answer);
    });
  }

  static void AddSeats(const std::vector<Leadership>& seats, v1::Renewal& renewal) {
    std::map<std::string, v1::SessionRenewal*> sessions;
    for (auto& session : *renewal.mutable_sessions()) sessions[session.session_id()] = &session;
    for (const Leadership& seat : seats) {
      v1::SessionRenewal& session = *sessions.at(seat.leader.session.Hex());
      if (session.has_lease_ttl()) *session.add_seats() = ToProto(seat);
    }
  }

  void Answer(PendingAnswer& answer) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    if (answer.error) return FinishWith(*answer.error);
    for (const v1::SessionRenewal& session : answer.renewal.sessions()) {
      if (!session.has_lease_ttl()) gone_.insert(ParseSessionId(session.session_id()).value());
    }
    v1::KeepAliveResponse response;
    *response.mutable_renewal() = std::move(answer.renewal);
    Send(std::move(response));
    if (!finished_) StartRead(&request_);
  }

  // REQUIRES for all below: the lock.

  void Send(v1::KeepAliveResponse response) {
    if (finished_) return;
    if (unsent_.size() >= kUnsentResponsesMax) {
      return FinishWith({Reason::kOverloaded, "the client reads too slowly"});
    }
    unsent_.push_back(std::move(response));
    WriteNext();
  }

  void WriteNext() {
    if (writing_ || finished_ || unsent_.empty()) return;
    writing_ = true;
    StartWrite(&unsent_.front());
  }

  void FinishIfAllSent() {
    if (no_more_requests_ && unsent_.empty()) Finish(grpc::Status::OK);
  }

  void FinishWith(const Error& error) { Finish(ToStatus(error)); }

  void Finish(const grpc::Status& status) {
    if (std::exchange(finished_, true)) return;
    ServerBidiReactor::Finish(status);
  }

  Engine& engine_;
  std::shared_ptr<KeepAliveCall> self_;  // until OnDone
  v1::KeepAliveRequest request_;         // of the read in flight, or being answered
  WatchHub::Membership membership_;      // used by the reading side and OnDone only

  std::mutex mutex_;
  // Guarded by mutex_:
  bool finished_ = false;
  bool writing_ = false;
  bool no_more_requests_ = false;
  std::deque<v1::KeepAliveResponse> unsent_;  // the first is in flight while writing_
  std::set<SessionId> gone_;                  // sessions that are watched for nothing
};

}  // namespace

grpc::ServerBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>* StartKeepAlive(
    Engine& engine) {
  const auto call = std::make_shared<KeepAliveCall>(engine);
  call->Start();
  return call.get();
}

}  // namespace tenure
