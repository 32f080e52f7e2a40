#include "tenure/elector.h"

#include <grpcpp/grpcpp.h>

#include <stdexcept>
#include <thread>
#include <utility>

#include "client/client_loop.h"
#include "client/gate.h"
#include "client/holder_clock.h"
#include "core/validation.h"
#include "tenure/observer.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

template <typename Value>
void Check(const Result<Value>& parsed) {
  if (!parsed) throw std::invalid_argument(parsed.error().message);
}

SeatOptions ToSeatOptions(const ElectorOptions& options) {
  Check(ParseElectionName(options.election));
  Check(ParseValue(options.value));
  if (options.stop_grace < 0ms)
    throw std::invalid_argument("stop_grace is negative; it must be 0 or more");
  SeatOptions seat{options.election, options.value, options.priority, options.lead != nullptr,
                   std::nullopt};
  if (options.stop_grace != 0ms) seat.stop_grace = options.stop_grace;
  return seat;
}

}  // namespace

// What an elector shares with the client's threads; it may live longer than the elector.
class Elector::State final : public SeatListener, public std::enable_shared_from_this<State> {
 public:
  State(ElectorOptions options, const std::shared_ptr<ClientLoop>& loop)
      : options_(std::move(options)),
        seat_(loop->Claim(options_.election)),
        loop_(loop),
        mailbox_(loop->mailbox()) {}

  Belief& belief() override { return belief_; }
  const Belief& belief() const { return belief_; }
  const ElectorOptions& options() const { return options_; }

  [[nodiscard]] ClientLoop::Seat seat() const { return seat_; }

  void Tell(std::function<void(ClientSession&, ClientLoop::Seat, Lease::Time)> what) {
    mailbox_([what = std::move(what), seat = seat_](ClientSession& session, Lease::Time now) {
      what(session, seat, now);
    });
  }

  void OnNews(const SeatEvent& event, SerialExecutor& callbacks) override {
    std::visit([&](const auto& what) { On(what, callbacks); }, event);
  }

  // No callback is called any more, and the work has ended.
  void Close() {
    callbacks_.Close();
    Tell([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
      session.Leave(seat, now);
    });
    if (work_.joinable()) {
      const bool within = work_.get_id() == std::this_thread::get_id();
      within ? work_.detach() : work_.join();
      if (within) return watchdog_.Close();  // the seat is given up when it returns
    }
    watchdog_.Close();
    Tell([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
      session.Abandon(seat, now);
    });
  }

 private:
  // All of these on the loop's thread.

  void On(const Standing& standing, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_standing, standing.position);
  }
  void On(const Elected& elected, SerialExecutor& callbacks) {
    leadership_ = elected.leadership;
    stop_ = std::stop_source();
    callbacks.Run([self = shared_from_this(), seat = leadership_, stop = stop_.get_token()] {
      const bool open = self->callbacks_.Pass([&] {
        if (self->options_.on_elected) self->options_.on_elected(seat);
      });
      // on_elected may have closed the gate.
      const bool began = open && self->options_.lead &&
                         self->callbacks_.Pass([&] { self->BeginWork(seat, stop); });
      if (!began) self->WorkEnded();
    });
  }
  void On(const Suspended&, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_suspended, leadership_);
  }
  void On(const Resumed&, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_resumed, leadership_);
  }
  void On(const StopWork&, SerialExecutor&) { stop_.request_stop(); }
  void On(const Overrun&, SerialExecutor&) {
    if (options_.on_overrun) watchdog_.Pass([this] { options_.on_overrun(leadership_); });
  }
  void On(const Lost& lost, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_lost, leadership_, lost.cause);
  }
  void On(const Troubled& troubled, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_trouble, troubled.status);
  }
  void On(const Refused& refused, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_refused, refused.status);
  }

  template <typename Callback, typename... Arguments>
  void Run(SerialExecutor& callbacks, const Callback& callback, Arguments... arguments) {
    if (!callback) return;
    callbacks.Run([self = shared_from_this(), &callback, arguments...] {
      self->callbacks_.Pass([&] { callback(arguments...); });
    });
  }

  // Within the gate.
  void BeginWork(const v1::Leadership& seat, const std::stop_token& stop) {
    if (work_.joinable()) work_.join();  // that of an earlier term, which has ended
    // While there is work, the session is not ended.
    work_ = std::thread([self = shared_from_this(), loop = loop_.lock(), seat, stop] {
      self->options_.lead(seat, stop);
      self->WorkEnded();
    });
  }

  void WorkEnded() {
    if (!options_.lead) return;
    Tell([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
      session.WorkEnded(seat, now);
    });
  }

  const ElectorOptions options_;
  const ClientLoop::Seat seat_;
  const std::weak_ptr<ClientLoop> loop_;
  const std::function<void(ClientLoop::Input)> mailbox_;
  Belief belief_;
  Gate callbacks_;
  Gate watchdog_;
  std::thread work_;  // changed only within the gate of the callbacks, and after it was closed

  // Of the loop's thread.
  v1::Leadership leadership_;
  std::stop_source stop_{std::nostopstate};
};

Client::Client(ClientOptions options) {
  Check(ParseCandidate(options.candidate));
  if (options.endpoints.find_first_not_of(',') == std::string::npos) {
    throw std::invalid_argument("endpoints names no replica; write host:port[,host:port...]");
  }
  if (options.lease_ttl < 0ms)
    throw std::invalid_argument("lease_ttl is negative; it must be 0 or more");
  loop_ = std::make_shared<ClientLoop>(std::move(options));
}

namespace {

// Tells of leaders; not of the values and the wishes that change meanwhile.
std::unique_ptr<Observer> ObserveLeaders(
    const ClientOptions& client, const std::string& election,
    std::function<void(const std::optional<v1::Leadership>&)> told,
    std::function<void(const grpc::Status&)> failed) {
  ObserverOptions options{.endpoints = client.endpoints, .credentials = client.credentials};
  options.names = {election};
  options.on_snapshot = [told](const v1::Snapshot& snapshot) {
    told(snapshot.has_leader() ? std::optional(snapshot.leader()) : std::nullopt);
  };
  options.on_event = [told](const v1::Event& event) {
    if (event.type() == v1::Event::TYPE_ELECTED) told(event.leadership());
    if (event.type() == v1::Event::TYPE_VACATED) told(std::nullopt);
  };
  options.on_failed = std::move(failed);
  return std::make_unique<Observer>(std::move(options));
}

}  // namespace

Elector::Elector(Client client, ElectorOptions options) : loop_(std::move(client.loop_)) {
  SeatOptions seat = ToSeatOptions(options);
  if (const auto& told = options.on_leader_changed) {
    observer_ = ObserveLeaders(loop_->options(), options.election, told, options.on_trouble);
  }
  state_ = std::make_shared<State>(std::move(options), loop_);
  loop_->Add(state_->seat(), std::move(seat), state_);
}

Elector::~Elector() {
  observer_.reset();
  state_->Close();
  loop_->Remove(state_->options().election);
}

bool Elector::IsLeader() const noexcept { return state_->belief().HoldsAt(HolderNow()); }

uint64_t Elector::term() const noexcept { return state_->belief().TermAt(HolderNow()); }

std::chrono::nanoseconds Elector::remaining() const noexcept {
  return state_->belief().Remaining(HolderNow());
}

void Elector::Proclaim(std::string value) {
  Check(ParseValue(value));
  state_->Tell([value = std::move(value)](ClientSession& session, ClientLoop::Seat seat,
                                          Lease::Time now) { session.Proclaim(seat, value, now); });
}

void Elector::Resign() {
  state_->Tell([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
    session.Leave(seat, now);
  });
}

}  // namespace tenure
