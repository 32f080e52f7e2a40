#include "tests/sim/trouble.h"

#include <algorithm>
#include <utility>

namespace tenure::sim {

using namespace std::chrono_literals;

void Trouble::Begin() {
  const Plan& plan = world_.plan;
  const Duration lease = plan.lease_ttl;
  world_.Say("trouble begins");
  world_.healed = false;
  ++round_;
  KeepReplicasUp();
  Every(plan.kills_every, [this] { AnyReplica().Kill("from outside"); });
  Every(plan.shutdowns_every, [this] {
    Replica& replica = AnyReplica();
    // Of two processes that share a home, one does not know what the other has adopted.
    const bool stays = replica.leaving() || replica.shares_home();
    if (!replica.up() || replica.frozen() || stays) return;
    const auto stays_up = [](const auto& other) { return other->up() && !other->leaving(); };
    if (world_.plan.Calm() && !std::ranges::all_of(replicas_, stays_up)) return;
    ShutDown(replica);
  });
  Every(plan.copies_every, [this] {
    Replica& original = AnyReplica();
    Replica& copy = AnyReplica();
    if (&copy != &original) Copy(original, copy);
  });
  Every(plan.outages_every, [this, lease] {
    Replica& replica = AnyReplica();
    world_.Say("r{} is cut off from the database", replica.number());
    replica.CutOff();
    world_.After(world_.random.Between(10ms, lease), [this, &replica] {
      if (world_.blackout) return;
      world_.Say("r{} reaches the database again", replica.number());
      replica.Heal();
    });
  });
  Every(plan.pauses_every, [this, lease] {
    Client& client = *clients_[world_.random.Below(clients_.size())];
    client.Stop();
    world_.After(world_.random.Between(10ms, 2 * lease), [&client] { client.GoOn(); });
  });
  Every(plan.stalls_every, [this] {
    Replica& replica = AnyReplica();
    const auto work = static_cast<engine::Work>(world_.random.Below(engine::kWorkKinds));
    world_.Say("r{} stalls", replica.number());
    replica.Stall(work);
    world_.After(world_.random.Between(1ms, 500ms), [&replica, work] { replica.Flow(work); });
  });
  Every(plan.locks_every, [this] {
    const ElectionName name = world_.elections[world_.random.Below(world_.elections.size())];
    world_.Say("{} is locked", name.bytes);
    for (const auto& replica : replicas_) replica->Lock(name);
    world_.After(world_.random.Between(1ms, 500ms), [this, name] {
      for (const auto& replica : replicas_) replica->Unlock(name);
    });
  });
  Every(plan.steps_every, [this] { StepClock(); });
  Every(plan.blackouts_every, [this] { BlackOut(); });
  // A beat is good for about 3 s.
  Every(plan.freezes_every, [this] {
    Replica& replica = AnyReplica();
    if (!replica.up() || replica.frozen()) return;
    replica.Freeze();
    world_.After(world_.random.Between(10ms, world_.random.OneIn(2) ? 1s : 9s),
                 [&replica] { replica.Thaw(); });
  });
  Every(plan.isolations_every, [this] {
    Replica& replica = AnyReplica();
    world_.Say("r{} is isolated from the database", replica.number());
    replica.CutOff();
    world_.After(world_.random.Between(2500ms, 10s), [this, &replica] {
      if (world_.blackout) return;
      world_.Say("r{} reaches the database again", replica.number());
      replica.Heal();
    });
  });
}

void Trouble::End() {
  world_.Say("trouble ends");
  world_.healed = true;
  EndBlackout();
  for (const auto& replica : replicas_) {
    replica->Thaw();
    if (replica->leaving()) replica->Kill("it is shut down");
    replica->Heal();
    for (int work = 0; work < engine::kWorkKinds; ++work)
      replica->Flow(static_cast<engine::Work>(work));
    for (const ElectionName& name : world_.elections) replica->Unlock(name);
    replica->Start();
  }
  for (const auto& client : clients_) client->GoOn();
}

void Trouble::Every(Duration mean, std::function<void()> trouble) {
  if (mean == Duration(0)) return;
  world_.After(world_.random.Between(Duration(1), 2 * mean), [this, mean, trouble, round = round_] {
    if (world_.healed || round != round_) return;
    trouble();
    Every(mean, trouble);
  });
}

// As a process does at SIGTERM: it waits until its sessions are handed over, but not indefinitely.
void Trouble::ShutDown(Replica& replica) {
  replica.HandOver();
  const Duration patience = world_.random.OneIn(2) ? Duration(10s) : world_.random.Between(0s, 5s);
  WaitForHandOver(replica, replica.incarnation(), world_.Now() + patience);
}

void Trouble::WaitForHandOver(Replica& replica, int incarnation, engine::SteadyTime until) {
  if (replica.incarnation() != incarnation || !replica.up()) return;
  if (replica.frozen() || (!replica.engine().retired() && world_.Now() < until)) {
    return world_.After(20ms, [this, &replica, incarnation, until] {
      WaitForHandOver(replica, incarnation, until);
    });
  }
  replica.Drain();
  world_.After(world_.random.Between(0ms, 2s), [&replica, incarnation] {
    if (replica.incarnation() == incarnation) replica.Kill("it is shut down");
  });
}

// The copy runs from when its image was taken, or from a little later.
void Trouble::Copy(Replica& original, Replica& copy) {
  const auto image = original.TakeImage();
  if (!image) return;
  copy.Kill("its machine is replaced by a copy of r" + std::to_string(original.number()) + "'s");
  const Duration later = world_.random.OneIn(2) ? Duration(0) : world_.random.Between(0ms, 3s);
  world_.After(later, [this, &copy, image, round = round_] {
    const bool may_start = !world_.healed && !world_.blackout && round == round_;
    if (may_start) copy.Start(image);
  });
}

// Like a supervisor, starts the replicas that died.
void Trouble::KeepReplicasUp() {
  for (const auto& replica : replicas_) {
    if (world_.blackout) break;
    if (replica->scheduler() == nullptr && world_.random.OneIn(5)) replica->Start();
  }
  world_.After(100ms, [this, round = round_] {
    if (!world_.healed && round == round_) KeepReplicasUp();
  });
}

void Trouble::StepClock() {
  const Duration lease = world_.plan.lease_ttl;
  const bool forward = world_.plan.steps_forward && world_.random.OneIn(2);
  const Duration most =
      world_.plan.steps_by_hours ? Duration(5h) : (world_.random.OneIn(3) ? 50 : 2) * lease;
  const Duration by = world_.random.Between(1ms, most);
  world_.Say("the database's clock is set {} by {} us", forward ? "forward" : "back", by.count());
  world_.latest_before_step = world_.LatestDbTime();
  world_.stepped += forward ? by : -by;
  if (!forward) clock_went_back_ += by;
}

void Trouble::BlackOut() {
  if (std::exchange(world_.blackout, true)) return;
  world_.Say("the database is away");
  for (const auto& replica : replicas_) replica->CutOff();
  // Often it is back when holders have just stopped believing, before their leases end.
  const Duration lease = world_.plan.lease_ttl;
  const Duration away = world_.random.OneIn(2) ? world_.random.Between(lease / 2, lease)
                                               : world_.random.Between(lease, 10 * lease);
  world_.After(away, [this, round = round_] {
    if (round == round_) EndBlackout();
  });
}

void Trouble::EndBlackout() {
  if (!std::exchange(world_.blackout, false)) return;
  world_.Say("the database is back");
  for (const auto& replica : replicas_) replica->Heal();
}

Replica& Trouble::AnyReplica() { return *replicas_[world_.random.Below(replicas_.size())]; }

}  // namespace tenure::sim
