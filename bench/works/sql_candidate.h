// A candidate that stands by a scheme of SQL statements, with its own thread and connection.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "bench/systems/mariadb_connection.h"
#include "bench/systems/sql_scheme.h"
#include "bench/works/small_thread.h"

namespace tenure::bench {

struct SqlPlace {
  int port;  // of the database server
  std::string database;
  std::string election;
  std::string candidate;
  std::chrono::milliseconds phase{0};  // before its first attempt
};

// A candidate's reports, called on its thread. Each may be left out.
struct SqlReports {
  std::function<void()> on_stands = {};  // its first attempt begins
  std::function<void()> on_leads = {};
  std::function<void()> on_renewed = {};
  std::function<void()> on_resigning = {};  // it is about to send the release
  std::function<void()> on_lost = {};       // it knows that it no longer leads
  std::function<void()> on_failed =
      {};  // because of a deadlock, for example; it retries in its next turn
  std::function<void(const std::string&)> on_broken = {};  // it cannot go on
};

class SqlCandidate {
 public:
  // Connects, and stands. Throws SqlError if it cannot connect.
  SqlCandidate(const SqlScheme& scheme, SqlPlace place, SqlReports reports);
  ~SqlCandidate();  // stops, and waits for its thread; keeps the seat, as a crash would
  SqlCandidate(const SqlCandidate&) = delete;
  SqlCandidate& operator=(const SqlCandidate&) = delete;

  // Gives the seat up at once if it leads, and does not stand again.
  void Resign() { End(Order::kResign); }
  // Asks the thread to end. It first waits for the answer to its statement.
  void Stop() { End(Order::kStop); }
  // The server's number for its connection.
  [[nodiscard]] uint64_t connection() const { return connection_id_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Order { kNone, kStop, kResign };

  void End(Order order);
  void Live();
  // Waits for an order; returns kNone when it is time for the next attempt.
  Order WaitUntil(Clock::time_point time);
  // One attempt or renewal; afterwards it leads or not.
  void TakeTurn();
  [[nodiscard]] bool Attempt();
  [[nodiscard]] bool Ask(const std::vector<std::string>& statements);
  SqlAnswer Run(const std::string& statement);
  void Learn(bool leads);
  void Release();

  const SqlScheme& scheme_;
  const SqlPlace place_;
  const SqlReports reports_;
  std::optional<MariaDbConnection> connection_;
  std::atomic<uint64_t> connection_id_;
  bool first_ = true;
  bool leads_ = false;
  std::mutex mutex_;
  std::condition_variable ordered_;
  Order order_ = Order::kNone;  // guarded by mutex_
  SmallThread thread_;          // last: it uses all others
};

}  // namespace tenure::bench
