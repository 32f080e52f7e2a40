// Candidates that contend for seats by one scheme on one database: Tenure, or statements that teams
// write themselves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bench/systems/servers.h"
#include "bench/systems/system.h"
#include "tests/support/process.h"

namespace tenure::bench {

// How long a contest waits for a leader: longer than every lease.
inline constexpr std::chrono::seconds kLeaderPatience{60};

struct ContestPlan {
  std::string label;
  size_t candidates;
  size_t elections;   // among which they are spread
  bool held = false;  // a holder stands already, in the only election

  [[nodiscard]] std::string ElectionOf(size_t number) const {
    return label + "-" + std::to_string(number % elections);
  }
};

// When candidates learned that they lead. Thread-safe.
class LeaderLog {
 public:
  void Add(Clock::time_point at);
  void Fail(const std::string& error);

  // The first one that was not returned before, or nothing if none comes in time. Throws
  // std::runtime_error if a candidate failed.
  [[nodiscard]] std::optional<Clock::time_point> Next(std::chrono::milliseconds patience);
  // Those that Next has not returned.
  [[nodiscard]] size_t CountRest();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Clock::time_point> leaders_;  // guarded by mutex_
  size_t returned_ = 0;                     // guarded by mutex_
  std::string error_;                       // guarded by mutex_
};

class Contest {
 public:
  virtual ~Contest() = default;  // no candidate stands any more

  // Of these candidates.
  [[nodiscard]] virtual LeaderLog& leaders() = 0;
  // Statements that failed and were tried again.
  [[nodiscard]] virtual uint64_t failed_statements() const { return 0; }

  // The next leader of them. Throws std::runtime_error if there is none in time.
  [[nodiscard]] Clock::time_point NextLeader();
};

// Where contests by one scheme take place. Used by several threads, for elections with different
// labels.
class Venue {
 public:
  virtual ~Venue() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // Returns when all candidates stand.
  [[nodiscard]] virtual std::unique_ptr<Contest> Open(const ContestPlan& plan) = 0;
  // A process that stands, writes what HolderLog reads, and resigns on SIGUSR1.
  [[nodiscard]] virtual std::unique_ptr<testing::Process> StartHolder(
      const std::string& election) = 0;
  // Has the holder lose its seat without its knowledge: stops the process, except where
  // `held_by_connection`, which ends its connection.
  virtual void Depose(const testing::Process& holder, const std::string& election) = 0;
  [[nodiscard]] virtual bool held_by_connection() const { return false; }
  // What its servers have used.
  [[nodiscard]] virtual CpuTimes CpuTime() = 0;
};

}  // namespace tenure::bench
