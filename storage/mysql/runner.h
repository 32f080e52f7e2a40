// Runs work on the connections of a store, retries it where that may help, and turns the driver's
// errors into values.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "storage/mysql/pool.h"
#include "storage/store.h"

namespace tenure::mysql {

// Waits before another try: a random time, up to a maximum that rises with each try.
void Backoff(int tries);
// The maximum after this number of tries.
[[nodiscard]] std::chrono::microseconds LongestBackoff(int tries);

// Thread-safe.
class Runner {
 public:
  explicit Runner(Config config) : pool_(std::move(config)) {}

  // Runs `work` on a connection, again after a conflict, and on a new connection after the old one
  // broke. Only a broken *new* connection means that the database is away.
  template <typename Work>
  auto Run(Work work, Pool::Where where = Pool::Where::kStaying)
      -> Result<std::invoke_result_t<Work, Pool::Loan&>> {
    const auto begun = std::chrono::steady_clock::now();
    for (int tries = 1;; ++tries) {
      bool fresh = true;
      try {
        Pool::Loan loan = pool_.Borrow(where);
        fresh = loan.fresh();
        try {
          if constexpr (std::is_void_v<std::invoke_result_t<Work, Pool::Loan&>>) {
            work(loan);
            return {};
          } else {
            return work(loan);
          }
        } catch (const MySqlError& error) {
          fresh = loan.fresh();
          CleanUp(loan, error);
          throw;
        } catch (const std::out_of_range&) {
          throw Malformed(loan);
        } catch (const std::bad_optional_access&) {
          throw Malformed(loan);
        } catch (...) {  // from `decide`: leave no transaction open
          loan.Drop();
          throw;
        }
      } catch (const MySqlError& error) {
        const bool again =
            error.kind == MySqlError::Kind::kConflict ||
            error.kind == MySqlError::Kind::kNotCommitted ||
            ((error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kUnfit) &&
             !fresh);
        const bool enough =
            tries >= kTriesMin && std::chrono::steady_clock::now() - begun >= kTriesFor;
        if (!again || enough) return Fail(Reason::kStoreUnavailable, error.what());
        ++retries_[static_cast<size_t>(ReasonOf(error))];
      }
      Backoff(tries);
    }
  }

  // Also on a server that the store is not to stay on.
  template <typename Work>
  auto RunAnywhere(Work work) -> Result<std::invoke_result_t<Work, Pool::Loan&>> {
    return Run(std::move(work), Pool::Where::kAnywhere);
  }

  void StayOn(uint64_t server) { pool_.StayOn(server); }
  void LeaveServer() { pool_.LeaveServer(); }
  [[nodiscard]] StoreActivity Activity() const;

 private:
  // Where several servers take writes, a transaction may lose to others many times.
  static constexpr int kTriesMin = 6;
  static constexpr auto kTriesFor = std::chrono::seconds(2);

  // The tables hold something that no tenured wrote.
  static MySqlError Malformed(Pool::Loan& loan);
  static void CleanUp(Pool::Loan& loan, const MySqlError& error);
  // REQUIRES: the work will be retried.
  static RetryReason ReasonOf(const MySqlError& error);

  Pool pool_;
  std::array<std::atomic<uint64_t>, kRetryReasons> retries_{};
};

}  // namespace tenure::mysql
