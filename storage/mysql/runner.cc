#include "storage/mysql/runner.h"

#include <algorithm>
#include <random>
#include <thread>

#include "storage/mysql/sql.h"

namespace tenure::mysql {
namespace {

constexpr auto kBackoffMin = std::chrono::microseconds(500);
constexpr auto kBackoffMax = std::chrono::milliseconds(20);
constexpr int kDoublingsMax = 6;  // from kBackoffMin to beyond kBackoffMax
constexpr int kDeadlock = 1213;

}  // namespace

std::chrono::microseconds LongestBackoff(int tries) {
  return std::min<std::chrono::microseconds>(kBackoffMax,
                                             kBackoffMin * (1 << std::min(tries, kDoublingsMax)));
}

void Backoff(int tries) {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<int64_t> jitter(0, LongestBackoff(tries).count());
  std::this_thread::sleep_for(std::chrono::microseconds(jitter(random)));
}

StoreActivity Runner::Activity() const {
  StoreActivity activity = pool_.Activity();
  std::ranges::copy(retries_, activity.retries.begin());
  return activity;
}

MySqlError Runner::Malformed(Pool::Loan& loan) {
  loan.Drop();
  return {MySqlError::Kind::kOther, 0, "the tables hold data that no tenured wrote"};
}

void Runner::CleanUp(Pool::Loan& loan, const MySqlError& error) {
  if (error.kind == MySqlError::Kind::kUnfit) loan.LeaveServer();
  // The session may be the reason why a statement failed: the next one would fail, too.
  if (error.kind != MySqlError::Kind::kConflict) return loan.Drop();
  try {
    loan.connection().Run({query::kRollback});
  } catch (const MySqlError&) {
    loan.Drop();
  }
}

RetryReason Runner::ReasonOf(const MySqlError& error) {
  if (error.kind == MySqlError::Kind::kAway || error.kind == MySqlError::Kind::kUnfit) {
    return RetryReason::kLostConnection;
  }
  if (error.kind == MySqlError::Kind::kNotCommitted) return RetryReason::kLostReply;
  if (error.code == kDeadlock) return RetryReason::kDeadlock;
  return error.code == query::kLockWaitTimeout ? RetryReason::kLockTimeout : RetryReason::kConflict;
}

}  // namespace tenure::mysql
