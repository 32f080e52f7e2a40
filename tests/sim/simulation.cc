#include "tests/sim/simulation.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "storage/sqlite/open.h"
#include "tests/sim/auditor.h"
#include "tests/sim/client.h"
#include "tests/sim/holder.h"
#include "tests/sim/network.h"
#include "tests/sim/observer.h"
#include "tests/sim/operator.h"
#include "tests/sim/poller.h"
#include "tests/sim/replica.h"
#include "tests/sim/resource.h"
#include "tests/sim/set_taker.h"
#include "tests/sim/stores.h"
#include "tests/sim/trouble.h"
#include "tests/sim/world.h"

namespace tenure::sim {

using namespace std::chrono_literals;
using testing::ManualScheduler;

namespace {

constexpr auto kAuditEvery = 1s;
constexpr int kObservers = 2;
// When nothing goes wrong any more, the longest time until everybody has had a turn.
constexpr auto kPatience = 120s;
// A waiting call that could not renew tries again after half of this.
constexpr auto kTendingTime = 1s;
// A seat that may be granted again is granted within this time: a search for what is due.
constexpr Duration kWakingTime = 1s;
// An ended session is settled within a search, and observers hear of it within a poll.
constexpr auto kHearingTime = 2s;
// First homes are found dead, and sessions in doubt are looked for.
constexpr auto kSettlingTime = kHearingTime + 10s;
// A copy of a machine begins with nothing in memory, and finds the sessions of its home by its
// sweep.
constexpr auto kSweepInterval = 60s;

class Simulation {
 public:
  Simulation(const Plan& plan, const Mutation& mutation, std::ostream* trace_to)
      : world_(plan, mutation, trace_to) {
    if (plan.copies_every > Duration(0)) settling_time_ += kSweepInterval;
    for (int i = 0; i < plan.elections; ++i) {
      world_.elections.push_back({"election-" + std::to_string(i)});
    }
    for (int i = 0; i < plan.replicas; ++i) {
      replicas_.push_back(std::make_unique<Replica>(world_, auditor_, late_, i));
      replicas_.back()->WhenCommitted([this, i](PartitionOffset at) { network_.Spread(i, at); });
    }
    world_.all_is_told = [this] {
      return std::ranges::all_of(
          replicas_, [](const auto& replica) { return !replica->up() || replica->KnowsAll(); });
    };
    world_.let_pass = [this](Duration duration) { LetPass(duration); };
    world_.on_renewal = [this](const Session& answer, engine::SteadyTime asked) {
      auditor_.CheckRenewal(answer, asked);
    };
    for (int i = 0; i < plan.clients(); ++i) clients_.push_back(MakeClient(i));
    for (int i = 0; i < kObservers; ++i) {
      observers_.push_back(std::make_unique<Observer>(world_, network_, auditor_, i));
    }
    for (int i = 0; i < plan.operators; ++i) {
      operators_.push_back(std::make_unique<Operator>(world_, network_, auditor_, i));
    }
  }
  ~Simulation() {
    world_.scheduler.Die();
    replicas_.clear();
  }

  Outcome Run() {
    if (!truth_->Migrate()) world_.Violate("the schema cannot be made");
    for (const auto& replica : replicas_) replica->Start();
    for (const auto& client : clients_) client->Start();
    for (const auto& each : operators_) each->Start();
    for (const auto& observer : observers_) observer->Start();
    AuditNowAndThen();
    AskNowAndThen();
    for (int round = 0; round < world_.plan.rounds && !world_.violation; ++round) {
      trouble_.Begin();
      RunUntil(world_.Now() + world_.plan.trouble);
      trouble_.End();
      BeQuiet();
    }
    world_.ending = true;
    const engine::SteadyTime latest = world_.Now() + kPatience + trouble_.clock_went_back();
    while (!world_.violation && !AllRetired() && world_.Now() < latest) {
      RunUntil(world_.Now() + 1s);
    }
    CheckAllRetired();
    // Clients that vanished have left sessions behind.
    RunUntil(world_.Now() + 2 * world_.plan.LeaseMax() + settling_time_);
    CheckTheEnd();
    return Result();
  }

 private:
  Duration settling_time_ = kSettlingTime;
  std::unique_ptr<Client> MakeClient(int number) {
    if (number < world_.plan.holders) {
      return std::make_unique<Holder>(world_, network_, resource_, auditor_, number);
    }
    if (number < world_.plan.holders + world_.plan.pollers) {
      return std::make_unique<Poller>(world_, network_, resource_, auditor_, number);
    }
    return std::make_unique<SetTaker>(world_, network_, resource_, auditor_, number);
  }

  // --- Time ---

  void RunUntil(engine::SteadyTime end) {
    end_ = end;
    while (!world_.violation && Step(end)) continue;
  }

  void LetPass(Duration duration) {
    const engine::SteadyTime end = std::min(world_.Now() + duration, end_);
    while (!world_.violation && Step(end)) continue;
  }

  // Runs one task of one process. False if none is due before `end`, which is then the time.
  bool Step(engine::SteadyTime end) {
    std::vector<Replica*> all = {nullptr};  // the world's own process
    for (const auto& replica : replicas_) {
      if (replica->scheduler() != nullptr && !replica->frozen()) all.push_back(replica.get());
    }
    const auto scheduler_of = [this](Replica* replica) {
      return replica == nullptr ? &world_.scheduler : replica->scheduler();
    };
    std::optional<engine::SteadyTime> next;
    for (Replica* replica : all) {
      const auto due = scheduler_of(replica)->NextDue();
      if (due && (!next || *due < *next)) next = due;
    }
    const bool over = !next || *next > end;
    const engine::SteadyTime now = over ? end : *next;
    for (Replica* replica : all) scheduler_of(replica)->SetNow(now);
    if (over) return false;

    std::vector<Replica*> ready;
    for (Replica* replica : all) {
      const auto due = scheduler_of(replica)->NextDue();
      if (due && *due <= world_.Now()) ready.push_back(replica);
    }
    Replica* chosen = ready[world_.random.Below(ready.size())];
    if (chosen == nullptr) {
      world_.scheduler.RunOne();
    } else {
      chosen->RunOne();
    }
    ++steps_;
    CheckBeliefs();
    return true;
  }

  // --- What must always be so ---

  void CheckBeliefs() {
    if (!world_.plan.LeasesHold()) return;
    for (const ElectionName& election : world_.elections) {
      const Client* believer = nullptr;
      for (const auto& client : clients_) {
        const auto term = client->BelievedTerm(election);
        if (!term) continue;
        const Event* end = auditor_.EndOf(election, *term);
        if (end != nullptr && MayEndWhileBelieved(end->cause)) {
          ++overtaken_;
          continue;
        }
        if (believer != nullptr) {
          world_.Violate("{} and {} both believe that they lead {}", believer->name(),
                         client->name(), election.bytes);
        }
        believer = client.get();
      }
    }
  }

  bool Believed(const ElectionName& election, const SessionId& session, Term term) const {
    const auto number = static_cast<size_t>(session.bytes[0]);
    if (number >= clients_.size()) return false;
    const Client& client = *clients_[number];
    return client.session() == session && client.BelievedTerm(election) == term;
  }

  bool IsHeld(const SessionId& session) const {
    const auto number = static_cast<size_t>(session.bytes[0]);
    return number < clients_.size() && clients_[number]->session() == session &&
           clients_[number]->Holds();
  }

  void AuditNowAndThen() {
    auditor_.AuditAll();
    world_.After(kAuditEvery, [this] { AuditNowAndThen(); });
  }

  // Asks a replica who leads. The answer is what the store says at that moment, or, if the replica
  // was stopped before it gave it, said after it was asked.
  void AskNowAndThen() {
    world_.After(world_.random.Between(50ms, 500ms), [this] {
      Replica& replica = *replicas_[world_.random.Below(replicas_.size())];
      const ElectionName name = world_.elections[world_.random.Below(world_.elections.size())];
      if (replica.up() && !replica.frozen()) Ask(replica, name);
      AskNowAndThen();
    });
  }
  // Whether a reader gets the same answer for both.
  static bool IsSame(Election a, const Election& b) {
    if (a.leader && b.leader) a.leader->call_id = b.leader->call_id;
    return a.term == b.term && a.revision == b.revision && LeadershipOf(a) == LeadershipOf(b);
  }

  void Ask(Replica& replica, const ElectionName& name) {
    const Revision least = auditor_.RevisionOf(name);
    replica.Enter([&, asked = world_.Now()](engine::Engine& engine) {
      engine.ReadElection(name, false, [this, name, &replica, asked, least](const auto& election) {
        if (!election) return;
        if (replica.stopped_at() >= asked) {
          const bool old = *election && (*election)->revision < least;
          if (old) world_.Violate("a read of {} is what the store said before", name.bytes);
          return;
        }
        const Election* known = auditor_.Find(name);
        const bool same =
            *election ? known != nullptr && IsSame(**election, *known) : known == nullptr;
        if (!same) world_.Violate("a read of {} is not what the store says", name.bytes);
        if (!*election || !(*election)->leader) return;
        const Session* session = auditor_.Find((*election)->leader->session);
        if (session == nullptr || !session->Alive()) {
          world_.Violate("a read of {} shows a leader whose session has ended", name.bytes);
        }
      });
    });
  }

  // --- What must be so in the end ---

  [[nodiscard]] bool AllRetired() const {
    return std::ranges::all_of(clients_, [](const auto& client) { return client->retired(); });
  }

  // Nobody comes and sets things right by campaigning: those who wait, and the replicas, have to.
  void BeQuiet() {
    if (world_.violation) return;
    world_.quiet = true;
    // Every call that waits looks after itself in this time, and renews its session.
    RunUntil(world_.Now() + world_.plan.LeaseMax() / 3 + kTendingTime);
    // If the clock was set back, what is planned by it comes later.
    if (trouble_.clock_went_back() == Duration(0)) CheckVacancies();
    // The sessions of those that do not expire in this time.
    RunUntil(world_.Now() + 2 * world_.plan.LeaseMax() + settling_time_);
    CheckVacancies();
    CheckNobodyLivesInThePast();
    world_.quiet = false;
    world_.Say("clients campaign again");
  }

  // Nobody whose session lives waits for a seat that is vacant.
  void CheckVacancies() {
    for (const ElectionName& name : world_.elections) {
      const Election* election = auditor_.Find(name);
      if (election == nullptr || election->leader) continue;
      const auto waiter = auditor_.LiveWaiter(name, world_.DbNow() + -kWakingTime);
      if (waiter) world_.Violate("{} stays vacant while {} waits", name.bytes, NameOf(*waiter));
    }
  }

  // Each holder whose term was ended has heard of it by now, or has noticed.
  void CheckNobodyLivesInThePast() {
    for (const ElectionName& election : world_.elections) {
      for (const auto& client : clients_) {
        const auto term = client->BelievedTerm(election);
        const Event* end = term ? auditor_.EndOf(election, *term) : nullptr;
        if (end != nullptr && end->at + kHearingTime < world_.DbNow()) {
          world_.Violate("{} still believes that it leads {} in term {}, which ended ({})",
                         client->name(), election.bytes, term->value, CauseName(end->cause));
        }
      }
    }
  }

  void CheckAllRetired() {
    for (const auto& client : clients_) {
      if (client->retired()) continue;
      world_.Violate("{} was not elected, though nothing goes wrong any more", client->name());
    }
  }

  void CheckTheEnd() {
    if (world_.violation) return;
    auditor_.AuditAll();
    const auto due = truth_->FindDueWork(1000);
    if (!due->unsettled.empty()) {
      world_.Violate("{} ended sessions are not settled", due->unsettled.size());
    }
    for (const ElectionName& name : world_.elections) {
      const Election* election = auditor_.Find(name);
      if (election == nullptr) continue;
      if (election->leader) {
        world_.Violate("{} is still led by {}", name.bytes, NameOf(election->leader->session));
      }
      if (auditor_.QueueSize(name) > 0) world_.Violate("{} still has a queue", name.bytes);
    }
    for (const auto& replica : replicas_) {
      if (!replica->KnowsAll()) {
        world_.Violate("r{} did not tell its observer of everything", replica->number());
      }
    }
    for (const auto& observer : observers_) {
      if (!observer->KnowsAll()) {
        world_.Violate("{} did not receive everything", observer->name());
      }
    }
  }

  Outcome Result() {
    Outcome outcome{world_.plan, world_.violation, {}};
    outcome.last_lines.assign(world_.last_lines.begin(), world_.last_lines.end());
    outcome.steps = steps_;
    outcome.transactions = auditor_.transactions();
    outcome.terms = auditor_.terms();
    outcome.undecided = world_.undecided;
    outcome.from_memory = world_.from_memory;
    outcome.refused = world_.refused;
    outcome.orders = auditor_.orders_done();
    outcome.overtaken = overtaken_;
    outcome.writes = resource_.writes;
    for (const auto& replica : replicas_) {
      outcome.kills += static_cast<uint64_t>(replica->incarnation()) - 1;
    }
    outcome.simulated_seconds =
        std::chrono::duration<double>(world_.Now() - ManualScheduler::kStart).count();
    return outcome;
  }

  World world_;
  std::unique_ptr<Store> truth_ =
      sqlite::OpenSqliteStore(":memory:", [this] { return world_.DbNow(); }).value();
  QuirkyStore quirky_{*truth_, world_};
  MutantStore mutant_{quirky_, world_};
  Auditor auditor_{world_, *truth_,
                   [this](const ElectionName& election, const SessionId& session, Term term) {
                     return Believed(election, session, term);
                   },
                   [this](const SessionId& session) { return IsHeld(session); }};
  AuditedStore audited_{mutant_, world_, auditor_};
  LateStore late_{audited_, world_};
  Replicas replicas_;
  Network network_{world_, replicas_};
  Resource resource_{world_, auditor_};
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Operator>> operators_;
  std::vector<std::unique_ptr<Observer>> observers_;
  Trouble trouble_{world_, replicas_, clients_};
  engine::SteadyTime end_ = ManualScheduler::kStart;  // of what runs
  uint64_t steps_ = 0;
  uint64_t overtaken_ = 0;
};

}  // namespace

Outcome Simulate(const Plan& plan, const Mutation& mutation, std::ostream* trace_to) {
  spdlog::set_level(spdlog::level::off);
  return Simulation(plan, mutation, trace_to).Run();
}

std::string Report(const Outcome& outcome) {
  std::string report = Describe(outcome.plan) + "\n";
  for (const std::string& line : outcome.last_lines) report += line + "\n";
  report += "seed " + std::to_string(outcome.plan.seed) + ": " +
            outcome.violation.value_or("nothing went wrong") +
            "\nto see it again: build/bin/sim --seed " + std::to_string(outcome.plan.seed) +
            " --trace\n";
  return report;
}

}  // namespace tenure::sim
