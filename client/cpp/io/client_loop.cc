#include "client/cpp/io/client_loop.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "client/cpp/io/async_call.h"
#include "client/cpp/io/client_log.h"
#include "client/cpp/io/client_metrics.h"
#include "client/cpp/io/connection.h"
#include "client/cpp/io/holder_clock.h"
#include "client/cpp/io/keep_alive_stream.h"
#include "client/cpp/io/open_calls.h"
#include "client/cpp/io/seat_log.h"
#include "client/cpp/io/service_watch.h"
#include "core/validation.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndPatience = 1s;
constexpr auto kLongestPatience = 24h;
// Attempts that fit into the time for ending the session, if each replica that is asked hangs.
constexpr int kEndTries = 5;

ClientSessionOptions SessionOptions(const ClientOptions& options) {
  ClientSessionOptions session{options.candidate, std::nullopt, options.supersede};
  if (options.lease_ttl != 0ms) session.lease_ttl = options.lease_ttl;
  return session;
}

uint64_t NewSeed(const ClientOptions& options) {
  if (options.test_clock != nullptr) return options.test_clock->NextSeed();
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace

// The state of the loop's thread. Lives until the thread has ended, even if all other owners are
// gone.
class ClientLoop::Body : public std::enable_shared_from_this<Body> {
 public:
  explicit Body(const ClientOptions& options)
      : clock_(options.test_clock),
        metrics_(options.registry),
        session_(SessionOptions(options), NewSeed(options)),
        connection_(options.endpoints, options.credentials, HealthCheck::kOn, options.service_id),
        candidate_(options.candidate),
        log_(options.log, options.credentials,
             [this](std::function<void()> task) { log_thread_.Run(std::move(task)); }) {}

  void Run() {
    while (!abandoned_ || !EndedAt(clock_.Now())) {
      auto input = mailbox_->Take(clock_.WaitUntil(NextWake()));
      const Lease::Time now = clock_.Now();
      if (input) (*input)(session_, now);
      calls_.CancelOverdue(now);
      Step(now);
      if (MayEndSession(now)) {
        leave_until_.reset();
        session_.End(now, give_up_at_);
        Step(now);
      }
      service_.LookAgain(session_, now);
      if (EndedAt(now)) TellEnd();
    }
    calls_.CancelAll();
    service_.Cancel();
    if (stream_ != nullptr) stream_->Close();
    mailbox_->Close();
  }

  // The last owner of the client is gone.
  void Abandon(ClientSession& session, Lease::Time now) {
    abandoned_ = true;
    if (EndedAt(now)) return;
    leave_until_.reset();
    Hurry(now, kEndPatience);
    session.End(now);
    give_up_at_ = now + kEndPatience;
  }

  using Ending = std::promise<grpc::Status>;
  void Close(ClientSession& session, Lease::Time now, std::chrono::milliseconds patience,
             std::shared_ptr<Ending> ending) {
    endings_.push_back(std::move(ending));
    if (EndedAt(now)) return;
    closing_ = true;
    Hurry(now, patience);
    give_up_at_ = now + patience;
    leave_until_ = now + patience / 2;
    for (const auto& [seat, listener] : listeners_) session.Leave(seat, now);
  }

  void Say(const LogEntry& entry) { log_.Say(entry); }

  void Join(TestClock& clock) {
    clock.Join(mailbox_, callbacks_, [this]() -> TestClock::Rest {
      if (clock_.RunsFree()) return {};
      return {NextWake(), session_.AwaitsAnswer(), session_.id(), session_.Streams(), heard_};
    });
  }

  [[nodiscard]] std::thread::id callbacks_thread() const { return callbacks_.thread(); }

  void Add(ClientSession& session, Lease::Time now, Seat first, const std::vector<SeatOptions>& set,
           const std::shared_ptr<SeatListener>& listener) {
    session.AddSet(first, set);
    if (closing_) session.Leave(first, now);
    for (size_t i = 0; i < set.size(); ++i) {
      listeners_.emplace(first + i, Listener{listener,
                                             i,
                                             {metrics_, set[i].election},
                                             SeatLog(candidate_, set[i].election, i == 0)});
    }
  }

  const std::shared_ptr<Mailbox<Input>> mailbox_ = std::make_shared<Mailbox<Input>>();

 private:
  struct Listener {
    std::shared_ptr<SeatListener> listener;
    size_t index;  // in its set
    ClientMetrics::Election metrics;
    SeatLog log;
    uint64_t published_term = 0;  // 0: no belief stands
    Lease::Time published_until{};
  };

  [[nodiscard]] bool EndedAt(Lease::Time now) const {
    return session_.Ended() || now >= give_up_at_;
  }
  // Work is asked to end first; the session is renewed until it has.
  [[nodiscard]] bool MayEndSession(Lease::Time now) const {
    return leave_until_ && (listeners_.empty() || now >= *leave_until_);
  }
  [[nodiscard]] Lease::Time NextWake() const {
    if (EndedAt(clock_.Now())) return Lease::Time::max();
    return std::min({session_.NextWake(), give_up_at_, leave_until_.value_or(give_up_at_),
                     calls_.cancel_at(), service_.NextAt(session_)});
  }

  void Hurry(Lease::Time now, Duration left) {
    clock_.RunFree();
    calls_.Limit(now, left / kEndTries);
  }

  void TellEnd() {
    grpc::Status status = session_.end_status();
    if (!session_.Ended() && status.ok()) {
      status = {grpc::StatusCode::DEADLINE_EXCEEDED, "the session's end was not answered in time"};
    }
    for (const auto& ending : std::exchange(endings_, {})) ending->set_value(status);
  }

  void Step(Lease::Time now) {
    const auto effects = session_.Decide(now);
    // The belief ends before anything is sent that gives up the seat.
    for (auto& [seat, listener] : listeners_) {
      if (listener.index == 0) Publish(seat, listener, now);
    }
    for (const auto& [seat, event] : session_.TakeNews()) {
      Listener& listener = listeners_.at(seat);
      listener.metrics.Count(event);
      listener.log.Say(event, log_);
      listener.listener->OnNews(listener.index, event, callbacks_);
    }
    for (const auto& renewal : session_.TakeRenewals()) metrics_.Count(renewal);
    for (const Effect& effect : effects) {
      std::visit([this](const auto& what) { Do(what); }, effect);
    }
    for (const Seat seat : session_.TakeGone()) listeners_.erase(seat);
  }

  void Publish(Seat seat, Listener& listener, Lease::Time now) {
    Belief& belief = listener.listener->belief();
    const Lease::Time until = session_.BelievedUntil(seat);
    const uint64_t term = until == Lease::Time{} ? 0 : session_.TermOf(seat);
    if (term != listener.published_term) {
      belief.End();
      if (term != 0) belief.Begin(term, until);
    } else if (term != 0 && until != listener.published_until && !belief.Extend(until)) {
      session_.BeliefEnded(seat, now);
      listener.published_term = 0;
      return;
    }
    listener.published_term = term;
    listener.published_until = until;
  }

  // Before a session is opened, the endpoints are asked which service they belong to.
  void Do(const SendCampaign& send) {
    if (!send.request.session_id().empty() || !connection_.needs_survey()) return Campaign(send);
    service_.Ask(clock_.Now(), clock_.Deadline(calls_.Patience(send.patience)),
                 [this, send](ClientSession& session, Lease::Time now, const grpc::Status& found) {
                   if (found.ok()) return Campaign(send);
                   session.OnCampaignDone(send.call, calls_.End(send.call, found), {}, now);
                 });
    calls_.Begin(send.call, [this] { service_.Cancel(); });
  }

  void Campaign(const SendCampaign& send) {
    using Call = AsyncCall<v1::ElectionService::Stub, v1::CampaignRequest, v1::CampaignResponse>;
    auto call = Prepare<Call>(send.call, send.request, send.patience);
    call->stub->async()->Campaign(
        &call->context, &call->request, &call->response,
        [this, call, number = send.call, endpoint = connection_.endpoint(),
         mailbox = mailbox_](const grpc::Status& status) {
          mailbox->Put([this, number, endpoint, status, response = call->response](
                           ClientSession& session, Lease::Time now) {
            const auto met =
                service_.OfTheService(endpoint, response.session().service_id(), status);
            session.OnCampaignDone(number, service_.Heard(endpoint, calls_.End(number, met), now),
                                   response, now);
          });
        });
  }

  void Do(const SendResign& send) {
    using Call = AsyncCall<v1::ElectionService::Stub, v1::ResignRequest, v1::ResignResponse>;
    auto call = Prepare<Call>(send.call, send.request, send.patience);
    call->stub->async()->Resign(
        &call->context, &call->request, &call->response,
        [this, call, number = send.call, endpoint = connection_.endpoint(),
         mailbox = mailbox_](const grpc::Status& status) {
          mailbox->Put([this, number, endpoint, status](ClientSession& session, Lease::Time now) {
            session.OnResignDone(number, service_.Heard(endpoint, calls_.End(number, status), now),
                                 now);
          });
        });
  }

  template <typename Call, typename Request>
  std::shared_ptr<Call> Prepare(uint64_t number, const Request& request, Duration patience) {
    auto call = std::make_shared<Call>(connection_, connection_.stub());
    call->request = request;
    connection_.NameService(call->context);
    call->context.set_deadline(clock_.Deadline(calls_.Patience(patience)));
    calls_.Begin(number, [weak = std::weak_ptr(call)] {
      if (const auto alive = weak.lock()) alive->context.TryCancel();
    });
    return call;
  }

  void Do(const CancelCall& cancel) { calls_.Cancel(cancel.call); }

  void Do(const OpenStream& open) {
    const uint64_t number = open.stream;
    const std::string endpoint = connection_.endpoint();
    stream_number_ = number;
    heard_ = 0;
    stream_ = KeepAliveStream::Open(
        connection_,
        [this, number, endpoint, mailbox = mailbox_](const v1::KeepAliveResponse& response) {
          mailbox->Put([this, number, endpoint, response](ClientSession& session, Lease::Time now) {
            const auto met = service_.Heard(
                endpoint, service_.OfTheService(endpoint, response.service_id(), grpc::Status::OK),
                now);
            if (number == stream_number_) ++heard_;
            if (met.ok()) return session.OnStreamMessage(number, response, now);
            if (stream_ != nullptr) stream_->Close();
            session.OnStreamClosed(number, now, met);
          });
        },
        [this, number, endpoint, mailbox = mailbox_](const grpc::Status& status) {
          mailbox->Put([this, number, endpoint, status](ClientSession& session, Lease::Time now) {
            if (!status.ok()) (void)service_.Heard(endpoint, status, now);
            session.OnStreamClosed(number, now, status);
          });
        });
  }
  void Do(const SendRenewal& renewal) { stream_->Send(renewal.request); }
  void Do(const CloseStream&) { std::exchange(stream_, nullptr)->Close(); }
  void Do(const UseAnotherReplica& move) {
    if (move.silent) connection_.Reconnect();
    connection_.MoveOn();
    metrics_.CountReplicaChange();
  }

  HolderClock clock_;
  ClientMetrics metrics_;
  ClientSession session_;
  Connection connection_;
  const std::string candidate_;
  ClientLog log_;
  ServiceWatch service_{connection_, log_, mailbox_};
  std::map<Seat, Listener> listeners_;
  OpenCalls calls_;
  std::shared_ptr<KeepAliveStream> stream_;
  uint64_t stream_number_ = 0;
  size_t heard_ = 0;  // messages of that stream
  bool closing_ = false;
  std::optional<Lease::Time> leave_until_;  // while seats are left before the session is ended
  Lease::Time give_up_at_ = Lease::Time::max();
  bool abandoned_ = false;
  std::vector<std::shared_ptr<Ending>> endings_;  // callers that wait for the session's end
  SerialExecutor log_thread_;
  SerialExecutor callbacks_;  // destroyed first: callbacks may use everything else
};

ClientLoop::ClientLoop(ClientOptions options)
    : options_(std::move(options)),
      clock_(options_.test_clock),
      body_(std::make_shared<Body>(options_)) {
  if (options_.test_clock != nullptr) body_->Join(*options_.test_clock);
  thread_ = std::thread([body = body_] { body->Run(); });
}

ClientLoop::~ClientLoop() {
  const auto here = std::this_thread::get_id();
  const bool own = here == thread_.get_id() || here == body_->callbacks_thread();
  const auto mailbox = body_->mailbox_;
  // The loop's thread releases the body last; that ends the other threads.
  mailbox->Put([body = std::move(body_)](ClientSession& session, Lease::Time now) {
    body->Abandon(session, now);
  });
  own ? thread_.detach() : thread_.join();
}

grpc::Status ClientLoop::Close(std::chrono::milliseconds patience) {
  patience = std::min<std::chrono::milliseconds>(patience, kLongestPatience);
  const auto ending = std::make_shared<Body::Ending>();
  body_->mailbox_->Put(
      [body = body_.get(), patience, ending](ClientSession& session, Lease::Time now) {
        body->Close(session, now, patience, ending);
      });
  return ending->get_future().get();
}

ClientLoop::Seat ClientLoop::Claim(const std::vector<std::string>& elections) {
  const MutexLock lock(mutex_);
  for (const std::string& election : elections) {
    if (!elections_.contains(election)) continue;
    throw std::invalid_argument("this client already has an elector for election '" + election +
                                "'");
  }
  elections_.insert(elections.begin(), elections.end());
  const Seat first = last_seat_ + 1;
  last_seat_ += elections.size();
  return first;
}

void ClientLoop::Add(Seat first, std::vector<SeatOptions> set,
                     std::shared_ptr<SeatListener> listener) {
  body_->mailbox_->Put([body = body_.get(), first, set = std::move(set),
                        listener = std::move(listener)](ClientSession& session, Lease::Time now) {
    body->Add(session, now, first, set, listener);
  });
}

void ClientLoop::Remove(const std::vector<std::string>& elections) {
  const MutexLock lock(mutex_);
  for (const std::string& election : elections) elections_.erase(election);
}

void ClientLoop::Say(LogEntry entry) const {
  body_->mailbox_->Put([body = body_.get(), entry = std::move(entry)](ClientSession&, Lease::Time) {
    body->Say(entry);
  });
}

std::function<void(ClientLoop::Input)> ClientLoop::mailbox() const {
  return [mailbox = body_->mailbox_](Input input) { mailbox->Put(std::move(input)); };
}

}  // namespace tenure
