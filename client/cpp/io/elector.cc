#include "tenure/elector.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "client/cpp/io/client_loop.h"
#include "client/cpp/io/gate.h"
#include "client/cpp/machine/endpoints.h"
#include "core/limits.h"
#include "core/validation.h"
#include "proto/status.h"
#include "tenure/observer.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

template <typename Value>
void Check(const Result<Value>& parsed) {
  if (parsed) return;
  throw std::invalid_argument(parsed.error().message + " (" + ReasonName(parsed.error().reason) +
                              ")");
}

std::vector<std::string> ElectionsOf(const ElectorOptions& options) {
  if (options.elections.empty()) return {options.election};
  if (!options.election.empty()) {
    throw std::invalid_argument("election and elections are set; they exclude each other");
  }
  return options.elections;
}

void Refuse(const std::string& set) { Check<ElectionName>(Fail(Reason::kInvalidElectionSet, set)); }

void CheckSet(const std::vector<std::string>& elections) {
  if (elections.size() > kElectionsPerCampaignMax) {
    Refuse(std::to_string(elections.size()) + " elections are named; the maximum is " +
           std::to_string(kElectionsPerCampaignMax));
  }
  std::set<std::string> names;
  for (const std::string& election : elections) {
    Check(ParseElectionName(election));
    if (!names.insert(election).second) Refuse("election '" + election + "' is named twice");
  }
}

// One for each of the elections.
std::vector<SeatOptions> ToSeatOptions(const ElectorOptions& options) {
  Check(ParseValue(options.value));
  if (options.stop_grace < 0ms)
    throw std::invalid_argument("stop_grace is negative; it must be 0 or more");
  std::vector<SeatOptions> set;
  for (const std::string& election : ElectionsOf(options)) {
    SeatOptions seat{.election = election, .value = options.value, .priority = options.priority};
    seat.has_work = options.lead != nullptr;
    seat.in_set = !options.elections.empty();
    seat.one_term = options.one_term;
    if (options.stop_grace != 0ms) seat.stop_grace = options.stop_grace;
    set.push_back(std::move(seat));
  }
  return set;
}

}  // namespace

// The state that an elector shares with the client's threads. It may outlive the elector.
class Elector::State final : public SeatListener, public std::enable_shared_from_this<State> {
 public:
  State(ElectorOptions options, const std::shared_ptr<ClientLoop>& loop)
      : options_(std::move(options)),
        elections_(ElectionsOf(options_)),
        seat_(loop->Claim(elections_)),
        loop_(loop),
        mailbox_(loop->mailbox()) {}

  Belief& belief() override { return belief_; }
  const Belief& belief() const { return belief_; }
  const std::vector<std::string>& elections() const { return elections_; }

  [[nodiscard]] ClientLoop::Seat seat() const { return seat_; }

  void Post(std::function<void(ClientSession&, ClientLoop::Seat, Lease::Time)> what) {
    mailbox_([what = std::move(what), seat = seat_](ClientSession& session, Lease::Time now) {
      what(session, seat, now);
    });
  }

  void OnNews(size_t index, const SeatEvent& event, SerialExecutor& callbacks) override {
    std::visit([&](const auto& what) { On(index, what, callbacks); }, event);
  }

  // When it returns, the work has ended and no callback is called any more.
  void Close() {
    callbacks_.Close();
    Post([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
      session.Leave(seat, now);
    });
    if (work_.joinable()) {
      const bool within = work_.get_id() == std::this_thread::get_id();
      within ? work_.detach() : work_.join();
      if (within) return watchdog_.Close();  // the seat is given up when it returns
    }
    watchdog_.Close();
    Post([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
      session.Abandon(seat, now);
    });
  }

 private:
  // The work of one term. It may start late, because callbacks come before it.
  struct Term {
    std::stop_source stop;
    std::atomic<bool> decided =
        false;  // the work has begun, or was asked to stop first and never will
  };

  // All of these run on the loop's thread.

  void On(size_t, const Standing& standing, SerialExecutor& callbacks) {
    QueuePlace place{standing.place.position(), std::nullopt};
    if (standing.place.has_leader()) place.leader = standing.place.leader();
    Run(callbacks, options_.on_standing, place);
  }
  void On(size_t index, const Elected& elected, SerialExecutor& callbacks) {
    seats_[index] = elected.leadership;
    if (index == 0) term_ = std::make_shared<Term>();
    const bool last = index + 1 == seats_.size();
    callbacks.Run([self = shared_from_this(), seat = elected.leadership, first = seats_.front(),
                   last, term = term_] {
      const bool open = self->callbacks_.Pass([&] {
        if (self->options_.on_elected) self->options_.on_elected(seat);
      });
      if (!last || term->decided.exchange(true)) return;
      // on_elected may have closed the gate.
      const bool began = open && self->options_.lead && self->callbacks_.Pass([&] {
        self->BeginWork(first, term->stop.get_token());
      });
      if (!began) self->WorkEnded();
    });
  }
  void On(size_t index, const Suspended&, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_suspended, seats_[index]);
  }
  void On(size_t index, const Resumed&, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_resumed, seats_[index]);
  }
  void On(size_t index, const HandoverAsked& asked, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_step_down, seats_[index], asked.successor);
  }
  void On(size_t, const StopWork&, SerialExecutor&) {
    term_->stop.request_stop();
    if (!term_->decided.exchange(true)) WorkEnded();
  }
  void On(size_t index, const Overrun&, SerialExecutor&) {
    if (options_.on_overrun) watchdog_.Pass([&] { options_.on_overrun(seats_[index]); });
  }
  void On(size_t index, const Lost& lost, SerialExecutor& callbacks) {
    Run(callbacks, options_.on_lost, seats_[index], lost.cause);
  }
  // News about a campaign is reported once for its whole set.
  void On(size_t index, const SetBlocked& blocked, SerialExecutor& callbacks) {
    if (index == 0) Run(callbacks, options_.on_blocked, blocked.elections);
  }
  void On(size_t index, const Troubled& troubled, SerialExecutor& callbacks) {
    if (index == 0) Run(callbacks, options_.on_trouble, troubled.status);
  }
  void On(size_t index, const Refused& refused, SerialExecutor& callbacks) {
    if (index == 0) Run(callbacks, options_.on_refused, refused.status);
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
    if (work_.joinable()) work_.join();  // an earlier term's, which has ended
    // The session stays open while there is work.
    const auto loop = loop_.lock();
    try {
      work_ = std::thread([self = shared_from_this(), loop, seat, stop] {
        try {
          self->options_.lead(seat, stop);
        } catch (const std::exception& error) {
          self->WorkFailed(*loop, seat, error.what());
        } catch (...) {
          self->WorkFailed(*loop, seat, "an unknown exception");
        }
        self->WorkEnded();
      });
    } catch (const std::system_error& error) {
      WorkFailed(*loop, seat, std::string("no thread can be started: ") + error.what());
      WorkEnded();
    }
  }

  static void WorkFailed(const ClientLoop& loop, const v1::Leadership& seat,
                         const std::string& what) {
    loop.Say({.event = LogEvent::kWorkFailed,
              .message = "the work for " + seat.election() + " in term " +
                         std::to_string(seat.term()) + " failed: " + what +
                         "; the seat is resigned",
              .cause = what});
  }

  void WorkEnded() {
    if (!options_.lead) return;
    Post([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
      session.WorkEnded(seat, now);
    });
  }

  const ElectorOptions options_;
  const std::vector<std::string> elections_;
  const ClientLoop::Seat seat_;  // the first
  const std::weak_ptr<ClientLoop> loop_;
  const std::function<void(ClientLoop::Input)> mailbox_;
  Belief belief_;
  Gate callbacks_;
  Gate watchdog_;
  std::thread work_;  // changed only within the gate of the callbacks, or after that was closed

  // For the loop's thread.
  std::vector<v1::Leadership> seats_ = std::vector<v1::Leadership>(elections_.size());
  std::shared_ptr<Term> term_;
};

Client::Client(ClientOptions options) {
  Check(ParseCandidate(options.candidate));
  if (const auto parsed = ParseEndpoints(options.endpoints); !parsed) {
    throw std::invalid_argument("endpoints: " + parsed.error());
  }
  if (!options.service_id.empty() && !IsServiceId(options.service_id)) {
    throw std::invalid_argument("service_id '" + options.service_id +
                                "' is not 32 lower-case hexadecimal digits");
  }
  if (options.lease_ttl < 0ms)
    throw std::invalid_argument("lease_ttl is negative; it must be 0 or more");
  loop_ = std::make_shared<ClientLoop>(std::move(options));
}

grpc::Status Client::Close(std::chrono::milliseconds patience) { return loop_->Close(patience); }

namespace {

// Reports leaders, but not changes of their values or wishes for a handover.
std::unique_ptr<Observer> ObserveLeaders(
    const ClientOptions& client, const std::string& election,
    std::function<void(const std::optional<v1::Leadership>&)> changed,
    std::function<void(const grpc::Status&)> failed) {
  ObserverOptions options{.endpoints = client.endpoints,
                          .credentials = client.credentials,
                          .service_id = client.service_id,
                          .log = nullptr};  // the client says the same of its endpoints
  options.names = {election};
  options.on_snapshot = [changed](const v1::Snapshot& snapshot) {
    changed(snapshot.has_leader() ? std::optional(snapshot.leader()) : std::nullopt);
  };
  options.on_event = [changed](const v1::Event& event) {
    if (event.type() == v1::Event::TYPE_ELECTED) changed(event.leadership());
    if (event.type() == v1::Event::TYPE_VACATED) changed(std::nullopt);
  };
  options.on_failed = std::move(failed);
  return std::make_unique<Observer>(std::move(options));
}

}  // namespace

Elector::Elector(Client client, ElectorOptions options) : loop_(std::move(client.loop_)) {
  const std::vector<std::string> elections = ElectionsOf(options);
  CheckSet(elections);
  std::vector<SeatOptions> set = ToSeatOptions(options);
  if (const auto& changed = options.on_leader_changed) {
    if (elections.size() > 1) {
      throw std::invalid_argument(
          "on_leader_changed is set for several elections; use a tenure::Observer");
    }
    observer_ = ObserveLeaders(loop_->options(), elections.front(), changed, options.on_trouble);
  }
  state_ = std::make_shared<State>(std::move(options), loop_);
  loop_->Add(state_->seat(), std::move(set), state_);
}

Elector::~Elector() {
  observer_.reset();
  state_->Close();
  loop_->Remove(state_->elections());
}

bool Elector::IsLeader() const noexcept { return state_->belief().HoldsAt(loop_->Now()); }

uint64_t Elector::term() const noexcept { return state_->belief().TermAt(loop_->Now()); }

std::chrono::nanoseconds Elector::remaining() const noexcept {
  return state_->belief().Remaining(loop_->Now());
}

void Elector::Proclaim(std::string value) {
  Check(ParseValue(value));
  state_->Post([value = std::move(value)](ClientSession& session, ClientLoop::Seat seat,
                                          Lease::Time now) { session.Proclaim(seat, value, now); });
}

void Elector::Resign() {
  state_->Post([](ClientSession& session, ClientLoop::Seat seat, Lease::Time now) {
    session.Leave(seat, now);
  });
}

}  // namespace tenure
