#include "tests/guarded_set/worker.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <thread>

#include "client/tool/signals.h"
#include "tenure/sql_fence.h"
#include "tests/guarded_set/seat.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kLease = 2s;
constexpr auto kLookAgain = 5ms;       // while somebody else leads
constexpr auto kPreparationMax = 6ms;  // after the check of the lease, before the transaction
constexpr auto kThoughtMax = 6ms;      // between what is read and what is written
constexpr auto kGapMax = 6ms;          // between two transactions

class Worker {
 public:
  explicit Worker(const WorkerOptions& options)
      : options_(options), random_(options.seed), next_(options.number) {
    Connect();
  }

  // A naive leader: it checks its lease, and then trusts it for the length of a transaction.
  void Work(Seat& seat) {
    const auto term = seat.BelievedTerm();
    if (!term) return std::this_thread::sleep_for(kLookAgain);
    const uint64_t element = next_;
    next_ += options_.workers;
    PauseUpTo(kPreparationMax);
    const SqlResult added = Add(element, *term);
    if (added) {
      Say(kAcknowledged, element, "");
    } else if (MeaningOf(added.error()) == SqlErrorMeaning::kTermOver) {
      Say(kRefused, element, "");
      seat.Over(*term);
    } else {
      Say(kFailed, element, added.error().message);
      Connect();
    }
    PauseUpTo(kGapMax);
  }

 private:
  void Connect() { database_ = std::make_unique<SqlApplication>(options_.database); }

  // Reads the whole set, and writes it back with one element more.
  SqlResult Add(uint64_t element, Term term) {
    const SqlFence fence{kGuardedElection, term.value};
    const std::string guard = fence.Statement();
    const auto run = [&](const std::string& statement) -> SqlResult {
      if (!options_.fenced && statement == guard)
        return {};  // the same transaction, except for this
      return database_->Try(statement);
    };
    return Guarded(run, fence, [&] {
      return database_->Query(kReadSharedSet).and_then([&](const mysql::Rows& rows) {
        PauseUpTo(kThoughtMax);
        return run("UPDATE shared_set SET members = '" + rows.at(0).at(0).value() +
                   std::to_string(element) + kAfterMember + "' WHERE id = 1");
      });
    });
  }

  void PauseUpTo(std::chrono::microseconds most) {
    std::this_thread::sleep_for(std::chrono::microseconds(
        std::uniform_int_distribution<int64_t>(0, most.count())(random_)));
  }

  static void Say(const char* what, uint64_t element, const std::string& why) {
    std::cout << what << element << (why.empty() ? "" : ": ") << why << std::endl;
  }

  const WorkerOptions& options_;
  std::mt19937_64 random_;
  uint64_t next_;
  std::unique_ptr<SqlApplication> database_;
};

}  // namespace

std::string WorkerName(uint64_t number) { return "worker-" + std::to_string(number); }

int RunWorker(const WorkerOptions& options) {
  std::atomic<bool> stopping = false;
  const Signals signals([&](int) { stopping = true; });  // before gRPC starts its threads
  Seat seat(options.endpoints, kGuardedElection, WorkerName(options.number), kLease);
  Worker worker(options);
  while (!stopping) worker.Work(seat);
  return EXIT_SUCCESS;
}

}  // namespace tenure::testing
