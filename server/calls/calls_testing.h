// Vocabulary for the tests of machines: each effect in a few words.
//
// Names stand for candidates and sessions as in core/law/law_testing.h.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/law/law_testing.h"
#include "server/calls/campaign.h"
#include "server/calls/keep_alive.h"
#include "server/calls/observe.h"

namespace tenure::calls {

using tenure::testing::Id;

inline std::string Who(const SessionId& id) {
  for (const char* name : {"a", "b", "c"}) {
    if (Id(name) == id) return name;
  }
  return "?";
}

// A budget of as many bytes as the test sets.
struct FixedBudget final : SendBudget {
  bool Take(size_t bytes) override {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  }
  void Release(size_t bytes) override { left += bytes; }

  size_t left = 0;
};

// Runs a machine, at a time that the test sets.
template <typename Machine>
class Driver {
 public:
  explicit Driver(Machine machine) : machine_(std::make_unique<Machine>(std::move(machine))) {}

  // The effects of one event.
  std::vector<std::string> Step(typename Machine::Event event) {
    std::vector<std::string> texts;
    for (auto& effect : machine_->Step(std::move(event), now_)) {
      texts.push_back(std::visit([this](auto& it) { return Text(it); }, effect));
    }
    return texts;
  }
  void Advance(SteadyTime::duration by) { now_ += by; }

  [[nodiscard]] SteadyTime now() const { return now_; }
  [[nodiscard]] bool finished() const { return machine_->finished(); }

 private:
  std::string Text(const Submit& it) {
    if (std::holds_alternative<Campaign>(it.command)) return "submit";
    return fmt::format("submit set of {}", std::get<CampaignForAll>(it.command).elections.size());
  }
  std::string Text(const WithdrawPlace& it) {
    return fmt::format("take back {} call {}", it.command.election.bytes, it.command.call_id.value);
  }
  std::string Text(const Renew& it) { return fmt::format("renew {}", Who(it.session)); }
  std::string Text(const ReadPlace& it) {
    return it.with_position ? "read position" : "read place";
  }
  std::string Text(const ReadSeats& it) {
    std::string text = "read seats of";
    for (const SessionId& id : it.page.sessions) text += " " + Who(id);
    return text + (it.page.after.bytes.empty() ? "" : " after " + it.page.after.bytes);
  }
  std::string Text(const ReadNames& it) {
    return fmt::format("list '{}'{}", it.prefix, it.after.empty() ? "" : " after " + it.after);
  }
  std::string Text(const ReadElection& it) { return "read " + it.name.bytes; }
  std::string Text(const ReadEvents& it) {
    return fmt::format("read {} from {}, {}", it.name.bytes, it.from.value, it.limit);
  }
  std::string Text(const WatchSessions& it) {
    std::string text = "watch";
    for (const SessionId& id : it.add) text += " +" + Who(id);
    for (const SessionId& id : it.remove) text += " -" + Who(id);
    return text;
  }
  std::string Text(const SetTimer& it) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(it.at - now_);
    return fmt::format("{} in {} ms", NameOf(it.timer), left.count());
  }
  std::string Text(const StopTimer& it) { return fmt::format("stop {}", NameOf(it.timer)); }
  std::string Text(const CountWait& it) {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(it.waited);
    return fmt::format("waited {} ms", waited.count());
  }
  std::string Text(const CountResync&) { return "count resync"; }
  template <typename... Outward>
  std::string Text(const std::variant<Outward...>& outward) {
    return std::visit([this](const auto& it) { return Text(it); }, outward);
  }

  std::string Text(const Reply<CampaignReply>& it) {
    if (!it.reply) return Text(it.reply.error());
    return std::visit([this](const auto& outcome) { return Text(outcome); }, it.reply->outcome);
  }
  std::string Text(const Finish&) { return "end"; }
  std::string Text(const BreakOff& it) { return Text(it.error); }
  std::string Text(const HangUp&) { return "hang up"; }
  std::string Text(const ReadRequest&) { return "read request"; }
  template <typename T>
  std::string Text(const Write<T>& it) {
    return "write " + std::visit([this](const auto& message) { return Text(message); }, it.message);
  }

  std::string Text(const Error& error) { return "error: " + error.message; }
  std::string Text(const Leadership& it) {
    return fmt::format("elected in term {}", it.term.value);
  }
  std::string Text(const Standing& it) {
    return fmt::format("standing at {}{}", it.position,
                       it.leader ? " behind " + it.leader->leader.candidate : "");
  }
  std::string Text(const AllElected& it) {
    return fmt::format("elected in all {}", it.leaderships.size());
  }
  std::string Text(const Blocked& it) {
    std::string text = "blocked in";
    for (const ElectionName& name : it.elections) text += " " + name.bytes;
    return text;
  }
  std::string Text(const Renewal& it) {
    std::string text = fmt::format("renewal {}:", it.sequence);
    for (const SessionRenewal& session : it.sessions) {
      text += " " + Who(session.id) + (session.session ? "" : " over");
      for (const Leadership& seat : session.seats) text += " " + seat.election.bytes;
    }
    return text + (it.more ? " and more" : "");
  }
  std::string Text(const std::shared_ptr<const tenure::Event>& it) {
    return fmt::format("{} {} {}", it->election.bytes, it->revision.value, EventTypeName(it->type));
  }
  std::string Text(const SessionOver& it) { return "over " + Who(it.session.id); }
  std::string Text(const Snapshot& it) {
    return fmt::format("{} of {} at {}", it.resync ? "resync" : "snapshot", it.name.bytes,
                       it.election ? it.election->revision.value : 0);
  }
  std::string Text(const Progress& it) {
    if (it.at == now_) return "progress";
    return fmt::format("progress {} ms ago",
                       std::chrono::duration_cast<std::chrono::milliseconds>(now_ - it.at).count());
  }

  static std::string NameOf(TimerId timer) {
    switch (timer) {
      case TimerId::kNoAnswer: return "no answer";
      case TimerId::kWaitOver: return "wait over";
      case TimerId::kRenewal: return "renewal";
      case TimerId::kRetry: return "retry";
      case TimerId::kProgress: return "progress";
    }
    return "";
  }

  SteadyTime now_{std::chrono::hours(1)};
  std::unique_ptr<Machine> machine_;
};

// What happened in an election.
inline Changed ChangeOf(const std::string& election, uint64_t revision, EventType type,
                        const std::string& leader, uint64_t term) {
  Event event;
  event.election = {election};
  event.revision = {revision};
  event.type = type;
  event.term = {term};
  event.leader.session = Id(leader);
  event.leader.candidate = leader;
  return {std::make_shared<const Event>(std::move(event))};
}

inline tl::unexpected<Error> Unavailable() {
  return Fail(Reason::kStoreUnavailable, "the database is away");
}

}  // namespace tenure::calls
