#include "client/client_loop.h"

#include <grpcpp/grpcpp.h>

#include <random>
#include <stdexcept>
#include <utility>

#include "client/async_call.h"
#include "client/client_metrics.h"
#include "client/connection.h"
#include "client/holder_clock.h"
#include "client/keep_alive_stream.h"
#include "core/validation.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndPatience = 1s;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

ClientSessionOptions SessionOptions(const ClientOptions& options) {
  ClientSessionOptions session{options.candidate, std::nullopt, options.supersede};
  if (options.lease_ttl != 0ms) session.lease_ttl = options.lease_ttl;
  return session;
}

uint64_t NewSeed() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace

// What the loop's thread works with. Lives until that has ended, whoever else is gone.
class ClientLoop::Body : public std::enable_shared_from_this<Body> {
 public:
  explicit Body(const ClientOptions& options)
      : metrics_(options.registry),
        session_(SessionOptions(options), NewSeed()),
        connection_(options.endpoints, options.credentials, HealthCheck::kOn) {}

  void Run() {
    while (!session_.Ended() && HolderNow() < give_up_at_) {
      auto input = mailbox_->Take(WaitUntil(NextWake()));
      const Lease::Time now = HolderNow();
      if (input) (*input)(session_, now);
      Step(now);
    }
    for (const auto& [number, cancel] : calls_) cancel();
    if (stream_ != nullptr) stream_->Close();
    mailbox_->Close();
  }

  void End(ClientSession& session, Lease::Time now) {
    session.End(now);
    give_up_at_ = now + kEndPatience;
  }

  [[nodiscard]] std::thread::id callbacks_thread() const { return callbacks_.thread(); }

  void Listen(Seat seat, const std::string& election, std::shared_ptr<SeatListener> listener) {
    listeners_.emplace(seat, Listener{std::move(listener), {metrics_, election}});
  }

  const std::shared_ptr<Mailbox<Input>> mailbox_ = std::make_shared<Mailbox<Input>>();

 private:
  struct Listener {
    std::shared_ptr<SeatListener> listener;
    ClientMetrics::Election metrics;
    uint64_t published_term = 0;  // 0: no belief stands
    Lease::Time published_until{};
  };

  [[nodiscard]] Lease::Time NextWake() const { return std::min(session_.NextWake(), give_up_at_); }

  void Step(Lease::Time now) {
    const auto effects = session_.Decide(now);
    // The belief ends before anything is sent that gives up the seat.
    for (auto& [seat, listener] : listeners_) Publish(seat, listener, now);
    for (const auto& [seat, event] : session_.TakeNews()) {
      Listener& listener = listeners_.at(seat);
      listener.metrics.Count(event);
      listener.listener->OnNews(event, callbacks_);
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

  void Do(const SendCampaign& send) {
    using Call = AsyncCall<v1::ElectionService::Stub, v1::CampaignRequest, v1::CampaignResponse>;
    auto call = Prepare<Call>(send.call, send.request, send.patience);
    call->stub->async()->Campaign(
        &call->context, &call->request, &call->response,
        [this, call, number = send.call, mailbox = mailbox_](const grpc::Status& status) {
          mailbox->Put([this, number, status, response = call->response](ClientSession& session,
                                                                         Lease::Time now) {
            calls_.erase(number);
            session.OnCampaignDone(number, status, response, now);
          });
        });
  }

  void Do(const SendResign& send) {
    using Call = AsyncCall<v1::ElectionService::Stub, v1::ResignRequest, v1::ResignResponse>;
    auto call = Prepare<Call>(send.call, send.request, send.patience);
    call->stub->async()->Resign(
        &call->context, &call->request, &call->response,
        [this, call, number = send.call, mailbox = mailbox_](const grpc::Status& status) {
          mailbox->Put([this, number, status](ClientSession& session, Lease::Time now) {
            calls_.erase(number);
            session.OnResignDone(number, status, now);
          });
        });
  }

  template <typename Call, typename Request>
  std::shared_ptr<Call> Prepare(uint64_t number, const Request& request, Duration patience) {
    auto call = std::make_shared<Call>(connection_, connection_.stub());
    call->request = request;
    call->context.set_deadline(std::chrono::system_clock::now() + patience);
    calls_[number] = [weak = std::weak_ptr(call)] {
      if (const auto alive = weak.lock()) alive->context.TryCancel();
    };
    return call;
  }

  void Do(const OpenStream& open) {
    const uint64_t number = open.stream;
    stream_ = KeepAliveStream::Open(
        connection_,
        [number, mailbox = mailbox_](const v1::KeepAliveResponse& response) {
          mailbox->Put([number, response](ClientSession& session, Lease::Time now) {
            session.OnStreamMessage(number, response, now);
          });
        },
        [number, mailbox = mailbox_](const grpc::Status&) {
          mailbox->Put([number](ClientSession& session, Lease::Time now) {
            session.OnStreamClosed(number, now);
          });
        });
  }
  void Do(const SendRenewal& renewal) { stream_->Send(renewal.request); }
  void Do(const CloseStream&) {
    stream_->Close();
    stream_.reset();
  }
  void Do(const UseAnotherReplica& move) {
    if (move.silent) connection_.Reconnect();
    connection_.MoveOn();
    metrics_.CountReplicaChange();
  }

  ClientMetrics metrics_;
  ClientSession session_;
  Connection connection_;
  std::map<Seat, Listener> listeners_;
  std::map<uint64_t, std::function<void()>> calls_;  // under way, with what cancels each
  std::shared_ptr<KeepAliveStream> stream_;
  Lease::Time give_up_at_ = Lease::Time::max();
  SerialExecutor callbacks_;  // the first to end: callbacks may use everything else
};

ClientLoop::ClientLoop(ClientOptions options)
    : options_(std::move(options)), body_(std::make_shared<Body>(options_)) {
  thread_ = std::thread([body = body_] { body->Run(); });
}

ClientLoop::~ClientLoop() {
  const auto here = std::this_thread::get_id();
  const bool own = here == thread_.get_id() || here == body_->callbacks_thread();
  const auto mailbox = body_->mailbox_;
  // The loop's thread is the last to let go of the body, which ends the other threads.
  mailbox->Put([body = std::move(body_)](ClientSession& session, Lease::Time now) {
    body->End(session, now);
  });
  own ? thread_.detach() : thread_.join();
}

ClientLoop::Seat ClientLoop::Claim(const std::string& election) {
  const MutexLock lock(mutex_);
  if (!elections_.insert(election).second) {
    throw std::invalid_argument("this client already has an elector for election '" + election +
                                "'");
  }
  return ++last_seat_;
}

void ClientLoop::Add(Seat seat, SeatOptions options, std::shared_ptr<SeatListener> listener) {
  body_->mailbox_->Put([body = body_.get(), seat, options = std::move(options),
                        listener = std::move(listener)](ClientSession& session, Lease::Time) {
    body->Listen(seat, options.election, listener);
    session.Add(seat, options);
  });
}

void ClientLoop::Remove(const std::string& election) {
  const MutexLock lock(mutex_);
  elections_.erase(election);
}

std::function<void(ClientLoop::Input)> ClientLoop::mailbox() const {
  return [mailbox = body_->mailbox_](Input input) { mailbox->Put(std::move(input)); };
}

}  // namespace tenure
