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
  size_t elections;   // the candidates are spread over these
  bool held = false;  // a holder already stands in the only election

  [[nodiscard]] std::string ElectionOf(size_t number) const {
    return label + "-" + std::to_string(number % elections);
  }
};

// Records when candidates learned that they lead. Thread-safe.
class LeaderLog {
 public:
  void Add(Clock::time_point at);
  void Fail(const std::string& error);

  // The first time not yet returned; nothing if none comes in time. Throws std::runtime_error if a
  // candidate failed.
  [[nodiscard]] std::optional<Clock::time_point> Next(std::chrono::milliseconds patience);
  // The number of times that Next has not returned.
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

  // The log of these candidates.
  [[nodiscard]] virtual LeaderLog& leaders() = 0;
  // Statements that failed and were repeated.
  [[nodiscard]] virtual uint64_t failed_statements() const { return 0; }

  // When the next candidate learns that it leads. Throws std::runtime_error if none does in time.
  [[nodiscard]] Clock::time_point NextLeader();
};

// Runs contests by one scheme. May be used by several threads, for elections with different labels.
class Venue {
 public:
  virtual ~Venue() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // Returns when all candidates stand.
  [[nodiscard]] virtual std::unique_ptr<Contest> Open(const ContestPlan& plan) = 0;
  // A process that stands, writes what HolderLog reads, and resigns on SIGUSR1.
  [[nodiscard]] virtual std::unique_ptr<testing::Process> StartHolder(
      const std::string& election) = 0;
  // Makes the holder lose its seat without noticing: stops the process or, if `held_by_connection`,
  // ends its connection.
  virtual void Depose(const testing::Process& holder, const std::string& election) = 0;
  [[nodiscard]] virtual bool held_by_connection() const { return false; }
  // Processor time of its servers.
  [[nodiscard]] virtual CpuTimes CpuTime() = 0;
};

}  // namespace tenure::bench
