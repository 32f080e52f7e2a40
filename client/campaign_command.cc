#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <variant>

#include "client/commands.h"
#include "client/connection.h"
#include "client/keep_alive_stream.h"
#include "client/mailbox.h"
#include "client/output.h"
#include "client/signals.h"
#include "core/lease.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

// One Campaign call waits no longer than this: then the next one does, so that a replica that hangs
// is noticed.
constexpr auto kWaitPerCall = 20s;
constexpr auto kCallPatience =
    5s;  // of a call that does not wait, and beyond the wait of one that does
constexpr auto kTryPatience = 10s;  // of --try, while no replica answers
constexpr auto kResignPatience = 5s;
constexpr auto kResignCallPatience = 2s;

google::protobuf::Duration ToProto(Duration duration) {
  google::protobuf::Duration message;
  message.set_seconds(duration.count() / 1'000'000);
  message.set_nanos(static_cast<int32_t>(duration.count() % 1'000'000 * 1000));
  return message;
}

Duration FromProto(const google::protobuf::Duration& message) {
  return std::chrono::seconds(message.seconds()) + Duration(message.nanos() / 1000);
}

std::string NewRequestId() {
  std::random_device random;
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(random());
  return id;
}

// What the threads of gRPC and of the signals report.
struct Interrupted {};
struct CampaignDone {
  uint64_t call;
  grpc::Status status;
  v1::CampaignResponse response;
};
struct StreamMessage {
  uint64_t stream;
  v1::KeepAliveResponse response;
};
struct StreamClosed {
  uint64_t stream;
};
using Message = std::variant<Interrupted, CampaignDone, StreamMessage, StreamClosed>;

// One `tenure campaign`: stands, waits, holds, and resigns. All decisions are made on one thread.
class CampaignRun {
 public:
  CampaignRun(const CommonOptions& common, const CampaignOptions& options)
      : output_(common.json),
        options_(options),
        mailbox_(std::make_shared<Mailbox<Message>>()),
        signals_([mailbox = mailbox_] { mailbox->Put(Interrupted{}); }),
        connection_(common.endpoints) {}

  int Run() {
    const Time now = Now();
    if (options_.wait)
      give_up_at_ = now + std::chrono::duration_cast<Time::duration>(*options_.wait);
    const Time try_until = now + kTryPatience;
    while (true) {
      const bool once = options_.wait == Duration(0);
      const auto stood = Campaign();
      if (!stood) return Leave(kExitNotElected);
      if (stood->ok()) {
        connection_.Succeeded();
        session_id_ = response_.session().session_id();
        lease_ttl_ = FromProto(response_.session().lease_ttl());
        if (response_.has_elected()) {
          const auto held = Hold(response_.elected());
          if (held) return *held;
          // Lost, or never confirmed, before anybody was told of it: leave the seat to others.
          ResignSeat();
          if (once || Over()) return Leave(kExitNotElected);
          connection_.MoveOn();
          if (!Pause(connection_.Backoff())) return Leave(kExitNotElected);
          continue;
        }
        ShowStanding();
        if (once || Over()) return Leave(kExitNotElected);
        continue;
      }
      if (IsSessionGone(*stood)) {
        session_id_.clear();
        request_id_ = NewRequestId();
        continue;
      }
      if (ReasonOf(*stood) == "CANDIDACY_WITHDRAWN") continue;
      if (!IsTransient(*stood) || (once && Now() >= try_until)) {
        Output::Complain(*stood);
        return kExitError;
      }
      if (!once && Over()) return Leave(kExitNotElected);
      connection_.MoveOn();
      if (!Pause(connection_.Backoff())) return Leave(kExitNotElected);
    }
  }

 private:
  static Time Now() { return std::chrono::steady_clock::now(); }
  [[nodiscard]] bool Over() const { return give_up_at_ && Now() >= *give_up_at_; }

  // How long the next call may wait: not at all until it is known where we stand.
  [[nodiscard]] Duration NextWait() const {
    if (!standing_shown_ || session_id_.empty()) return Duration(0);
    Time::duration wait = kWaitPerCall;
    if (give_up_at_) wait = std::clamp<Time::duration>(*give_up_at_ - Now(), 0s, wait);
    return std::chrono::duration_cast<Duration>(wait);
  }

  // One Campaign call. Nothing if it was interrupted.
  std::optional<grpc::Status> Campaign() {
    const Duration wait = NextWait();
    v1::CampaignRequest request;
    request.set_election(options_.election);
    request.set_session_id(session_id_);
    request.set_candidate(options_.candidate);
    request.set_value(options_.value);
    request.set_priority(options_.priority);
    *request.mutable_wait() = ToProto(wait);
    if (session_id_.empty()) {
      request.set_request_id(request_id_);
      if (options_.lease_ttl) *request.mutable_lease_ttl() = ToProto(*options_.lease_ttl);
    }

    struct Call {
      grpc::ClientContext context;
      v1::CampaignRequest request;
      v1::CampaignResponse response;
    };
    auto call = std::make_shared<Call>();
    call->request = std::move(request);
    call->context.set_deadline(std::chrono::system_clock::now() + wait + kCallPatience);
    const uint64_t number = ++calls_;
    const auto stub = connection_.stub();
    stub->async()->Campaign(&call->context, &call->request, &call->response,
                            [call, stub, number, mailbox = mailbox_](const grpc::Status& status) {
                              mailbox->Put(CampaignDone{number, status, call->response});
                            });
    while (auto message = mailbox_->Take(Time::max())) {
      if (std::holds_alternative<Interrupted>(*message)) {
        call->context.TryCancel();
        return std::nullopt;
      }
      auto* done = std::get_if<CampaignDone>(&*message);
      if (done == nullptr || done->call != number) continue;
      response_ = std::move(done->response);
      return done->status;
    }
    return std::nullopt;
  }

  void ShowStanding() {
    if (std::exchange(standing_shown_, true)) return;
    const v1::Standing& standing = response_.standing();
    const bool led = standing.has_leader();
    output_.Line({{"event", "standing"},
                  {"election", options_.election},
                  {"candidate", options_.candidate},
                  {"position", standing.position()},
                  {"leader", led ? Json(standing.leader().candidate()) : Json(nullptr)}},
                 "standing for " + options_.election + " as number " +
                     std::to_string(standing.position()) + "; " +
                     (led ? standing.leader().candidate() + " leads in term " +
                                std::to_string(standing.leader().term())
                          : "nobody leads"));
  }

  // Holds the seat until it is lost, or a signal comes. Answers with the exit code; nothing if the
  // seat was lost before the first renewal confirmed it, so that nobody was told of it.
  std::optional<int> Hold(const v1::Leadership& leadership) {
    term_ = leadership.term();
    lease_ = Lease();
    lease_.Renewed(Now(), lease_ttl_);  // only until when to try
    renewed_ = false;
    bool confirmed = false;
    OpenStream();
    while (true) {
      const Time next = std::min({lease_.believed_until(), next_renewal_, reopen_at_});
      auto message = mailbox_->Take(next);
      const Time now = Now();
      if (!lease_.BelievedAt(now)) {
        CloseStream();
        return confirmed ? std::optional(Lost("EXPIRED")) : std::nullopt;
      }
      if (message && std::holds_alternative<Interrupted>(*message)) {
        CloseStream();
        ResignSeat();
        return Leave(confirmed ? EXIT_SUCCESS : kExitNotElected);
      }
      if (message && std::holds_alternative<StreamClosed>(*message)) {
        if (std::get<StreamClosed>(*message).stream == stream_number_) ReopenLater();
      } else if (message && std::holds_alternative<StreamMessage>(*message)) {
        const auto& told = std::get<StreamMessage>(*message);
        if (told.stream != stream_number_) continue;
        const auto cause = LossIn(told.response);
        if (cause) {
          CloseStream();
          return confirmed ? std::optional(Lost(*cause)) : std::nullopt;
        }
        if (renewed_ && !std::exchange(confirmed, true)) ShowElected();
      }
      if (now >= reopen_at_) OpenStream();
      if (now >= next_renewal_) Renew(now);
    }
  }

  void ShowElected() const {
    output_.Line({{"event", "elected"},
                  {"election", options_.election},
                  {"term", term_},
                  {"candidate", options_.candidate}},
                 "elected: " + options_.candidate + " leads " + options_.election + " in term " +
                     std::to_string(term_));
  }

  int Lost(const std::string& cause) const {
    output_.Line({{"event", "lost"},
                  {"election", options_.election},
                  {"term", term_},
                  {"candidate", options_.candidate},
                  {"cause", cause}},
                 "lost: " + options_.candidate + " does not lead " + options_.election +
                     " any more (" + cause + ")");
    return kExitLost;
  }

  void OpenStream() {
    reopen_at_ = Time::max();
    const uint64_t number = ++stream_number_;
    stream_ = KeepAliveStream::Open(
        connection_.stub(),
        [number, mailbox = mailbox_](const v1::KeepAliveResponse& response) {
          mailbox->Put(StreamMessage{number, response});
        },
        [number, mailbox = mailbox_](const grpc::Status&) { mailbox->Put(StreamClosed{number}); });
    first_on_stream_ = true;
    unanswered_.clear();
    Renew(Now());
  }

  void CloseStream() {
    if (stream_ != nullptr) stream_->Close();
    stream_.reset();
    ++stream_number_;
  }

  void ReopenLater() {
    CloseStream();
    connection_.MoveOn();
    reopen_at_ = Now() + connection_.Backoff();
    next_renewal_ = Time::max();
  }

  void Renew(Time now) {
    // Two renewals without an answer: this replica hangs.
    if (unanswered_.size() >= 2) return ReopenLater();
    v1::KeepAliveRequest request;
    request.set_sequence(++sequence_);
    request.add_session_ids(session_id_);
    unanswered_[sequence_] = now;
    stream_->Send(std::move(request));
    next_renewal_ = now + lease_.RenewalInterval() / (unanswered_.size() > 1 ? 2 : 1);
  }

  // Takes in what the server says. If the seat is lost by it, the answer is the cause.
  std::optional<std::string> LossIn(const v1::KeepAliveResponse& response) {
    if (response.has_notice()) {
      const v1::SeatNotice& notice = response.notice();
      const bool mine = notice.election() == options_.election && notice.has_lost() &&
                        notice.lost().term() == term_;
      return mine ? std::optional(CauseName(notice.lost().cause())) : std::nullopt;
    }
    if (response.has_session_ended()) return CauseName(response.session_ended().cause());
    const v1::Renewal& renewal = response.renewal();
    const auto sent = unanswered_.find(renewal.sequence());
    if (sent == unanswered_.end() || renewal.sessions().empty()) return std::nullopt;
    const Time sent_at = sent->second;
    unanswered_.erase(unanswered_.begin(), std::next(sent));
    const v1::SessionRenewal& session = renewal.sessions(0);
    if (session.has_ended()) return CauseName(session.ended());
    if (session.has_not_found()) return "EXPIRED";
    if (std::exchange(first_on_stream_, false) && !Holds(session)) return "EXPIRED";
    connection_.Succeeded();
    renewed_ = true;
    lease_.Renewed(sent_at, FromProto(session.lease_ttl()));
    next_renewal_ = sent_at + lease_.RenewalInterval();
    return std::nullopt;
  }

  [[nodiscard]] bool Holds(const v1::SessionRenewal& session) const {
    return std::ranges::any_of(session.seats(), [&](const v1::Leadership& seat) {
      return seat.election() == options_.election && seat.term() == term_;
    });
  }

  static std::string CauseName(v1::Cause cause) {
    return v1::Cause_Name(cause).substr(std::string("CAUSE_").size());
  }

  // Best effort: if it fails, ending the session gives up the seat as well.
  void ResignSeat() {
    v1::ResignRequest request;
    request.set_session_id(session_id_);
    request.set_election(options_.election);
    request.set_term(term_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kResignCallPatience);
    v1::ResignResponse response;
    if (connection_.Connect()) (void)connection_.stub()->Resign(&context, request, &response);
  }

  // Gives everything up and ends. The exit code is `clean` if the service took it.
  int Leave(int clean) {
    if (session_id_.empty()) return clean;
    const Time until = Now() + kResignPatience;
    v1::ResignRequest request;
    request.set_session_id(session_id_);
    while (true) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kResignCallPatience);
      v1::ResignResponse response;
      const grpc::Status status = connection_.Connect()
                                      ? connection_.stub()->Resign(&context, request, &response)
                                      : Unreachable();
      if (status.ok() || IsSessionGone(status)) return clean;
      if (!IsTransient(status) || Now() >= until) {
        Output::Complain(status);
        return kExitError;
      }
      connection_.MoveOn();
      std::this_thread::sleep_for(connection_.Backoff());
    }
  }

  // False if it was interrupted.
  bool Pause(std::chrono::milliseconds pause) {
    const Time until = Now() + pause;
    while (auto message = mailbox_->Take(until)) {
      if (std::holds_alternative<Interrupted>(*message)) return false;
    }
    return true;
  }

  const Output output_;
  const CampaignOptions& options_;
  const std::shared_ptr<Mailbox<Message>> mailbox_;
  const Signals signals_;  // before gRPC starts its threads
  Connection connection_;
  std::optional<Time> give_up_at_;

  // Standing.
  std::string request_id_ = NewRequestId();
  std::string session_id_;
  Duration lease_ttl_{0};
  uint64_t calls_ = 0;
  v1::CampaignResponse response_;  // of the last call
  bool standing_shown_ = false;

  // Holding.
  uint64_t term_ = 0;
  Lease lease_;
  std::shared_ptr<KeepAliveStream> stream_;
  uint64_t stream_number_ = 0;
  bool first_on_stream_ = false;
  bool renewed_ = false;  // this seat, at least once
  uint64_t sequence_ = 0;
  std::map<uint64_t, Time> unanswered_;  // renewals of this stream, and when they were sent
  Time next_renewal_ = Time::max();
  Time reopen_at_ = Time::max();
};

}  // namespace

int RunCampaign(const CommonOptions& common, const CampaignOptions& options) {
  return CampaignRun(common, options).Run();
}

}  // namespace tenure
