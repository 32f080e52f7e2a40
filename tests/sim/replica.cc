#include "tests/sim/replica.h"

#include <utility>

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

// Thrown where a process dies in the middle of its work.
struct Killed {
  std::string where;
};

}  // namespace

class Replica::Listener final : public engine::Watcher {
 public:
  Listener(World& world, const Auditor& auditor, int replica)
      : world_(world), auditor_(auditor), replica_(replica) {
    for (const ElectionName& name : world.elections) heard_[name] = auditor.RevisionOf(name);
  }

  [[nodiscard]] bool KnowsAll() const {
    return std::ranges::all_of(
        heard_, [&](const auto& heard) { return auditor_.IsAll(heard.first, heard.second); });
  }

  void OnEvent(const std::shared_ptr<const Event>& told_of) override {
    const Event& event = *told_of;
    Revision& heard = heard_[event.election];
    if (event.revision != heard.Next() && !auditor_.IsFirst(event.election, event.revision)) {
      world_.Violate("r{} told its observer of {} revision {} after {}", replica_,
                     event.election.bytes, event.revision.value, heard.value);
    }
    heard = event.revision;
    const Event* stored = auditor_.EventOf(event.election, event.revision);
    Event told = event;
    told.leader.call_id = {};  // not in the log
    if (stored == nullptr || *stored != told) {
      world_.Violate("r{} told its observer of {} revision {}, which is not in the log", replica_,
                     event.election.bytes, event.revision.value);
    }
  }
  void OnReset() override {
    world_.Violate("r{} told its observer to begin again, and the database is the same", replica_);
  }
  void OnDrain() override {}

  engine::WatchHub::Membership membership;

 private:
  World& world_;
  const Auditor& auditor_;
  const int replica_;
  std::map<ElectionName, Revision> heard_;
};

Replica::Process::Process(World& world, Store& database, engine::EngineOptions options,
                          const std::optional<Image>& image)
    : seed(options.seed),
      scheduler([&world](size_t ready) { return static_cast<size_t>(world.random.Below(ready)); },
                world.Now()),
      clocks(scheduler),
      own(database, image),
      store(own),
      engine(store, clocks, metrics, std::move(options)) {}

Replica::Replica(World& world, const Auditor& auditor, Store& database, int number)
    : world_(world), auditor_(auditor), database_(database), number_(number) {}

void Replica::Start(const std::optional<Image>& image) {
  if (process_ != nullptr) return;
  ++incarnation_;
  world_.Say("r{} starts{}", number_, image ? " on a copied machine" : "");
  engine::EngineOptions options;
  options.feed_interval = world_.plan.feed_interval;
  options.on_commit = committed_;
  options.seed = image ? image->seed : world_.random.Next();
  options.limits.lease_ttl_min = 1s;
  options.limits.lease_ttl_max = world_.plan.LeaseMax();
  process_ = std::make_unique<Process>(world_, database_, options, image);
  process_->store.Before([this](const std::string& call) {
    MayStop("before", call);
    PlantFault(call);
    MayDie("before", call);
  });
  process_->store.After([this](const std::string& call) {
    MayStop("after", call);
    MayDie("after", call);
  });
  Enter([this](engine::Engine&) { TryToServe(); });
}

std::optional<Image> Replica::TakeImage() {
  if (process_ == nullptr || process_->leaving) return std::nullopt;
  const auto row = auditor_.FindHome(process_->own.home());
  if (!row || row->dead) return std::nullopt;
  process_->copied = true;
  return Image{process_->seed, *row};
}

void Replica::TryToServe() {
  if (process_->engine.Start()) {
    process_->serving = true;
    listener_ = std::make_shared<Listener>(world_, auditor_, number_);
    listener_->membership = process_->engine.hub().Join(listener_).value();
    return listener_->membership.Add(engine::WatchPrefix{""});
  }
  process_->scheduler.PostAt(engine::Work::kBackground, world_.Now() + 200ms,
                             [this] { TryToServe(); });
}

void Replica::Kill(const std::string& why) {
  if (process_ == nullptr) return;
  if (in_call_) {
    to_die_ = why;
    return;
  }
  world_.Say("r{} is killed: {}", number_, why);
  process_->scheduler.Die();
  auto residents = std::exchange(process_->residents, {});
  for (const auto& [number, resident] : residents) {
    resident->Leave();
    resident->Abort();
  }
  if (listener_ != nullptr) listener_->membership.Leave();
  listener_.reset();
  residents.clear();
  process_.reset();
  Thaw();
}

void Replica::Freeze() {
  if (process_ == nullptr || std::exchange(frozen_, true)) return;
  world_.Say("r{} is stopped", number_);
  frozen_at_ = world_.Now();
}

void Replica::Thaw() {
  if (in_call_ || !std::exchange(frozen_, false)) return;
  if (process_ != nullptr) {
    world_.Say("r{} goes on", number_);
    process_->scheduler.SetNow(world_.Now());
    if (world_.mutation.home_clock_stands) process_->clocks.Stand(world_.Now() - frozen_at_);
  }
  for (const auto& arrival : std::exchange(arrivals_, {})) arrival();
}

void Replica::Arrive(std::function<void()> arrival) {
  if (frozen_) return arrivals_.push_back(std::move(arrival));
  arrival();
}

void Replica::RunOne() {
  Enter([this](engine::Engine&) { process_->scheduler.RunOne(); });
  if (!world_.healed && world_.plan.busy_at_most > 0s && world_.random.OneIn(3)) BeBusy();
}

void Replica::BeBusy() {
  const auto work = static_cast<engine::Work>(world_.random.Below(engine::kWorkKinds));
  Stall(work);
  world_.After(world_.random.Between(0s, world_.plan.busy_at_most), [this, work] { Flow(work); });
}

void Replica::Enter(const std::function<void(engine::Engine&)>& work) {
  const auto before = std::exchange(world_.running, std::pair(number_, incarnation_));
  try {
    work(process_->engine);
    ReleaseFinished();
  } catch (const Killed& killed) {
    Kill(killed.where);
  }
  world_.running = before;
}

void Replica::ReleaseFinished() {
  auto& residents = process_->residents;
  for (auto it = residents.begin(); it != residents.end();) {
    const std::shared_ptr<Resident> resident = it->second;
    if (resident->finished) resident->Leave();
    it = resident->finished ? residents.erase(it) : std::next(it);
  }
}

void Replica::HandOver() {
  world_.Say("r{} shuts down", number_);
  process_->leaving = true;
  if (world_.mutation.drains_at_once) {
    const HomeId home = process_->own.home();
    (void)database_.DeclareDead(home, auditor_.FindHome(home).value_or(HomeRow{}).beat);
  }
  Enter([](engine::Engine& engine) { engine.Drain(); });
}

void Replica::Drain() {
  world_.Say("r{} takes no calls any more", number_);
  Enter([](engine::Engine& engine) { engine.hub().Drain(); });
}

bool Replica::KnowsAll() const { return up() && listener_->KnowsAll(); }

void Replica::PlantFault(const std::string& call) {
  if (world_.healed) return;
  const Plan& plan = world_.plan;
  if (world_.random.Chance(plan.store_failures)) {
    world_.Say("r{} cannot reach the store for {}", number_, call);
    process_->store.FailNext(1, call);
  } else if (call == "Transact" && world_.random.Chance(plan.store_failed_commits)) {
    world_.Say("r{} cannot commit", number_);
    process_->store.FailCommits(1);
  } else if (world_.random.Chance(plan.store_lost_replies)) {
    world_.Say("r{} loses the reply of {}", number_, call);
    process_->store.LoseReplies(1, call);
  }
}

void Replica::MayStop(const std::string& when, const std::string& call) {
  // The listener of one that begins to serve would not know what it has missed.
  if (world_.healed || world_.plan.store_stops == 0 || !process_->serving) return;
  if (!world_.random.Chance(world_.plan.store_stops)) return;
  world_.Say("r{} is stopped {} {}", number_, when, call);
  Freeze();
  in_call_ = true;
  world_.let_pass(world_.random.Between(10ms, 9s));
  in_call_ = false;
  // What has arrived is taken when the task that made the call has ended.
  for (auto& arrival : std::exchange(arrivals_, {})) {
    world_.After(0s, [this, arrival = std::move(arrival)] { Arrive(arrival); });
  }
  Thaw();
  if (const auto why = std::exchange(to_die_, std::nullopt)) throw Killed{*why};
}

void Replica::MayDie(const std::string& when, const std::string& call) {
  if (!world_.healed && world_.random.Chance(world_.plan.store_kills)) {
    throw Killed{when + " " + call};
  }
}

}  // namespace tenure::sim
