// Calls as a replica serves them: the machines of server/calls, run as in production by
// `calls::Call`. Only gRPC is replaced (network.h).
//
// Around each machine is a probe. It plants errors, and checks what is true of every call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "server/calls/call.h"
#include "server/calls/campaign.h"
#include "server/calls/keep_alive.h"
#include "server/calls/observe.h"
#include "tests/sim/replica.h"
#include "tests/sim/world.h"

namespace tenure::sim {

// A call for one election or for several.
template <typename Machine>
class ProbedCampaign {
 public:
  using Event = typename Machine::Event;
  using Effect = typename Machine::Effect;
  using Outward = typename Machine::Outward;

  ProbedCampaign(World& world, Machine machine) : world_(world), machine_(std::move(machine)) {}

  [[nodiscard]] bool finished() const { return machine_.finished(); }

  std::vector<Effect> Step(const Event& event, engine::SteadyTime now) {
    std::visit([this](const auto& it) { Hear(it); }, event);
    auto effects = IsLost(event) ? std::vector<Effect>() : machine_.Step(event, now);
    for (const Effect& effect : effects) {
      std::visit([this](const auto& it) { Note(it); }, effect);
    }
    const bool gives_up = std::holds_alternative<calls::Cancelled>(event);
    if (world_.mutation.withdraws_while_reading && gives_up && std::exchange(reading_, false)) {
      effects.emplace_back(calls::WithdrawPlace{*withdrawal_});
    }
    if (!finished() && waits_ && elected_ > standing_in_) {
      world_.Violate("{} waits on after its replica had heard of its election",
                     NameOf(withdrawal_->session));
    }
    if (!finished() && waits_ && drained_) {
      world_.Violate("a call waits on in a replica that is shutting down");
    }
    return effects;
  }

 private:
  [[nodiscard]] bool IsLost(const Event& event) const {
    const Mutation& mutation = world_.mutation;
    const bool changed = std::holds_alternative<calls::Changed>(event);
    return (mutation.drops_early_election && changed && !waits_) ||
           (mutation.waits_while_draining && std::holds_alternative<calls::Drained>(event));
  }

  template <typename T>
  void Hear(const T&) {}
  void Hear(const calls::Answered& it) {
    waits_ = it.answer.has_value();
    if (!waits_) return;
    const auto* answer = std::get_if<CampaignAnswer>(&*it.answer);
    if (answer != nullptr) standing_in_ = answer->election.term;
  }
  void Hear(const calls::Changed& it) {
    const tenure::Event& event = *it.event;
    const bool mine = event.type == EventType::kElected && withdrawal_ &&
                      event.election == withdrawal_->election &&
                      event.leader.session == withdrawal_->session;
    if (mine) elected_ = std::max(elected_, event.term);
  }
  void Hear(const calls::Drained&) { drained_ = true; }
  void Hear(const calls::PlaceRead& it) { reading_ &= !it.with_position; }

  template <typename T>
  void Note(const T&) {}
  void Note(const calls::Submit& it) {
    waits_ = false;
    const auto* campaign = std::get_if<Campaign>(&it.command);
    if (campaign != nullptr)
      withdrawal_ = {campaign->election, campaign->session, campaign->call_id};
  }
  void Note(const calls::ReadPlace& it) { reading_ |= it.with_position; }
  void Note(const calls::WithdrawPlace& it) {
    const Withdraw& command = it.command;
    world_.asked.withdrawn[{command.election, command.session}].insert(command.call_id.value);
    world_.last_withdrawn = command.call_id.value;
    world_.Say("{} withdraws its call from {}", NameOf(command.session), command.election.bytes);
  }

  World& world_;
  Machine machine_;
  std::optional<Withdraw> withdrawal_;  // what would take it back; of one election only
  bool waits_ = false;                  // its command was answered
  bool reading_ = false;                // its place, to answer with it
  bool drained_ = false;
  Term standing_in_;
  Term elected_;  // the latest term that was granted to it, as far as its replica knows
};

class ProbedKeepAlive {
 public:
  using Event = calls::KeepAlive::Event;
  using Effect = calls::KeepAlive::Effect;
  using Outward = calls::KeepAlive::Outward;

  explicit ProbedKeepAlive(World& world) : world_(world) {}

  [[nodiscard]] bool finished() const { return machine_.finished(); }

  std::vector<Effect> Step(Event event, engine::SteadyTime now) {
    if (!world_.mutation.answers_before_renewal) {
      if (const auto* renewed = std::get_if<calls::Renewed>(&event)) Note(*renewed);
      auto effects = machine_.Step(std::move(event), now);
      for (const Effect& effect : effects) {
        if (const auto* renew = std::get_if<calls::Renew>(&effect)) {
          asked_[renew->index] = world_.Now();
        }
      }
      return effects;
    }
    if (std::holds_alternative<calls::Renewed>(event)) return {};
    auto effects = machine_.Step(std::move(event), now);
    for (size_t i = 0; i < effects.size(); ++i) {
      const auto* renew = std::get_if<calls::Renew>(&effects[i]);
      if (renew == nullptr) continue;
      Session session;
      session.id = renew->session;
      session.lease_ttl = world_.plan.lease_ttl;
      for (auto& effect : machine_.Step(calls::Renewed{renew->index, session}, now)) {
        effects.push_back(std::move(effect));
        renew = nullptr;
      }
    }
    return effects;
  }

 private:
  void Note(const calls::Renewed& renewed) {
    if (renewed.session) world_.on_renewal(*renewed.session, asked_[renewed.index]);
  }

  World& world_;
  calls::KeepAlive machine_;
  std::map<size_t, engine::SteadyTime> asked_;  // the last time, by index
};

// A call or a stream in a replica. `send` takes what goes to the caller, `broken` is called when
// the process dies.
template <typename Machine>
class Served final : public Resident, public std::enable_shared_from_this<Served<Machine>> {
 public:
  using Outward = typename Machine::Outward;

  Served(engine::Engine& engine, Machine machine, std::function<void(Outward)> send,
         std::function<void()> broken)
      : engine_(engine),
        call_(std::make_shared<calls::Call<Machine>>(
            engine, std::move(machine),
            [this, send = std::move(send)](Outward outward) {
              finished |= std::visit([](const auto& it) { return IsLast(it); }, outward);
              send(std::move(outward));
            })),
        broken_(std::move(broken)) {}

  // The thread that begins it may have to wait for a processor once it watches.
  [[nodiscard]] Result<void> Begin(World& world, const std::vector<engine::Watch>& watches) {
    auto joined = call_->Join(watches);
    finished |= !joined;
    if (!joined) return joined;
    const Duration pause = world.random.OneIn(2)
                               ? Duration(0)
                               : world.random.Between(Duration(0), std::chrono::milliseconds(50));
    if (pause == Duration(0)) {
      Start();
    } else {
      engine_.scheduler().PostAt(engine::Work::kReads, world.Now() + pause,
                                 [weak = this->weak_from_this()] {
                                   if (const auto self = weak.lock()) self->Start();
                                 });
    }
    return joined;
  }
  void Happened(typename Machine::Event event) {
    if (!started_) return early_.push_back(std::move(event));
    call_->Happened(std::move(event));
  }

  void Leave() override { call_->Leave(); }
  void Abort() override { broken_(); }

 private:
  // gRPC lets the caller's side wait until the call has begun.
  void Start() {
    started_ = true;
    call_->Start();
    for (auto& event : std::exchange(early_, {})) call_->Happened(std::move(event));
  }

  template <typename T>
  static bool IsLast(const T&) {
    return false;
  }
  template <typename T>
  static bool IsLast(const calls::Reply<T>&) {
    return true;
  }
  static bool IsLast(const calls::Finish&) { return true; }
  static bool IsLast(const calls::BreakOff&) { return true; }
  static bool IsLast(const calls::HangUp&) { return true; }

  engine::Engine& engine_;
  const std::shared_ptr<calls::Call<Machine>> call_;
  const std::function<void()> broken_;
  bool started_ = false;
  std::vector<typename Machine::Event> early_;
};

}  // namespace tenure::sim
