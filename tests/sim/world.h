// What all parts of one simulation share: its plan, its chance, its time, its trace, and the first
// thing that went against the invariants.
//
// Everything runs on one thread. `scheduler` is the process of all that is not a replica: clients,
// the network, and the source of trouble. Its time is the true time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/law/law.h"
#include "core/types.h"
#include "server/engine/work/manual_scheduler.h"
#include "storage/store.h"
#include "tests/sim/mutation.h"
#include "tests/sim/plan.h"
#include "tests/sim/random.h"

namespace tenure::sim {

// Purges every unused election.
struct WholePurge {};

// An operator's order, counted once, however often it was sent.
struct Order {
  std::variant<Command, SessionId, WholePurge> wish;  // a session: to end it
  uint64_t records = 0;                               // how often the store says that it was done
};

// Requests to replicas that take a session out of an election, or end it. Nobody may lose a place,
// a seat or a session to a request that was never made.
struct Asked {
  std::map<PlaceKey, std::set<uint64_t>> resigned;   // by term; 0 for whatever it holds there
  std::map<PlaceKey, std::set<uint64_t>> withdrawn;  // by call id
  std::map<PlaceKey, std::set<uint64_t>> next;       // by the term that is to end for it
  std::set<SessionId> closed;
  std::set<std::pair<ElectionName, std::string>> superseding;  // candidates
  std::map<SessionId, std::set<ElectionName>> sets;            // wanted all or none
  std::vector<Order> orders;                                   // by number
};

struct World {
  World(const Plan& plan_of_run, const Mutation& planted, std::ostream* trace_to)
      : plan(plan_of_run), mutation(planted), random(plan.seed ^ 0x7e12e), out(trace_to) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] engine::SteadyTime Now() const { return scheduler.Now(); }
  [[nodiscard]] DbTime DbNow() const {
    return DbTime{std::chrono::hours(1000)} +
           (std::chrono::duration_cast<Duration>(Now() - testing::ManualScheduler::kStart) +
            stepped);
  }
  // The latest time that the database's clock has ever shown.
  [[nodiscard]] DbTime LatestDbTime() const { return std::max(latest_before_step, DbNow()); }
  void After(Duration delay, testing::ManualScheduler::Task task) {
    scheduler.PostAt(engine::Work::kBackground, Now() + delay, std::move(task));
  }

  // One line for one event.
  template <typename... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    const auto now = std::chrono::duration_cast<Duration>(Now() - testing::ManualScheduler::kStart);
    std::string line = fmt::format("{:>10.6f} ", static_cast<double>(now.count()) / 1e6);
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
    if (out != nullptr) *out << line << "\n";
    last_lines.push_back(std::move(line));
    if (last_lines.size() > kLastLines) last_lines.pop_front();
  }
  // Something went against the invariants. The first of them counts.
  template <typename... Args>
  void Violate(fmt::format_string<Args...> format, Args&&... args) {
    if (violation) return;
    violation = fmt::format(format, std::forward<Args>(args)...);
    Say("VIOLATION {}", *violation);
  }

  static constexpr size_t kLastLines = 60;

  const Plan plan;
  const Mutation& mutation;
  Random random;
  testing::ManualScheduler scheduler;
  Duration stepped{0};          // of the database's clock
  DbTime latest_before_step;    // that the database's clock has shown
  bool blackout = false;        // the database is away from everybody
  bool healed = false;          // nothing goes wrong, for now
  bool ending = false;          // nor will it again: everybody has one more turn
  std::pair<int, int> running;  // the process of a replica: its number and incarnation
  bool quiet = false;           // no new campaigns for a while: those that wait have to do
  std::vector<ElectionName> elections;
  std::set<SessionId> sessions;  // all that clients have made
  // Whether every replica has published everything to its hub. Operators purge what was published
  // long ago.
  std::function<bool()> all_is_told = [] { return false; };
  // Everything but those that are stopped goes on for as long, or until the end of the round.
  std::function<void(Duration)> let_pass;
  // A replica has answered a renewal that arrived there at `asked`.
  std::function<void(const Session& answer, engine::SteadyTime asked)> on_renewal;
  Asked asked;
  uint64_t last_withdrawn = 0;  // call id
  bool settling_only = false;   // the transaction under way does nothing for anybody who asked
  uint64_t undecided = 0;       // seats that the law could not fill at once
  uint64_t from_memory = 0;     // transactions that were decided so, and committed
  uint64_t refused = 0;         // of those, for what is remembered no longer held
  std::optional<std::string> violation;
  std::deque<std::string> last_lines;
  std::ostream* const out;
};

// Session ids that a reader of a trace can tell apart: "c3.2" is the second session of client 3.
inline SessionId SessionOf(int client, int number) {
  SessionId id;
  id.bytes[0] = static_cast<uint8_t>(client);
  id.bytes[1] = static_cast<uint8_t>(number >> 8);
  id.bytes[2] = static_cast<uint8_t>(number);
  id.bytes[15] = 1;
  return id;
}
inline std::string NameOf(const SessionId& id) {
  return fmt::format("c{}.{}", id.bytes[0], id.bytes[1] << 8 | id.bytes[2]);
}

}  // namespace tenure::sim
