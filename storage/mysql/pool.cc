#include "storage/mysql/pool.h"

#include <algorithm>
#include <random>
#include <utility>

#include "storage/mysql/session.h"

namespace tenure::mysql {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBorrowTimeout = std::chrono::seconds(5);
constexpr auto kIdleMax = kSilenceMax - std::chrono::seconds(1);
// Between two searches for a server.
constexpr std::chrono::milliseconds kSearchPauseMin{50};
constexpr std::chrono::milliseconds kSearchPauseMax{1000};
// Who waits for somebody else's search goes on without it after this.
constexpr std::chrono::seconds kSearchPatience{2};
constexpr int kTooManyConnections = 1040;
constexpr int kAccessDenied = 1045;
// A proxy that spreads connections may lead to another server than before; so often it is asked for
// the one that is used.
constexpr int kConnectTries = 4;

std::string RandomBytes(size_t count) {
  std::random_device device;
  std::string bytes(count, '\0');
  std::ranges::generate(bytes, [&] { return static_cast<char>(device()); });
  return bytes;
}

}  // namespace

Pool::Pool(Config config) : config_(std::move(config)) {
  for (size_t i = 0; i < config_.connections_max; ++i) {
    slots_.push_back(std::make_unique<Slot>(Slot{RandomBytes(16)}));
    free_.push_back(slots_.back().get());
  }
}

Pool::Loan Pool::Borrow(Where where) {
  std::unique_ptr<Connection> useless;  // closed without the lock
  MutexLock lock(mutex_);
  const auto until = Clock::now() + kBorrowTimeout;
  while (free_.empty() && returned_.WaitUntil(lock, until)) continue;
  if (free_.empty()) {
    throw MySqlError(MySqlError::Kind::kAway, 0,
                     "all " + std::to_string(slots_.size()) + " database connections are in use");
  }
  Slot* slot = free_.back();
  free_.pop_back();
  const bool silent = Clock::now() - slot->returned_at > kIdleMax;
  const bool left = !choice_ || choice_->number != slot->choice;
  if (silent || left) useless = std::move(slot->connection);
  return {*this, *slot, where};
}

Connection& Pool::Loan::connection() {
  if (slot_.connection == nullptr) {
    const auto choice = pool_.Chosen();
    if (where_ == Where::kStaying && choice) pool_.CheckStaying(choice->number);
    pool_.Connect(slot_);
  }
  if (where_ == Where::kStaying) pool_.CheckStaying(slot_.choice);
  return *slot_.connection;
}

void Pool::CheckStaying(uint64_t choice) const {
  const uint64_t stay_on = stay_on_;
  if (stay_on == 0 || choice == stay_on) return;
  throw MySqlError(MySqlError::Kind::kAway, 0,
                   "another database server answers than before, and has not been checked yet");
}

class Pool::SearchTurn {
 public:
  // Waits for it. Throws kAway if somebody else has it for too long.
  explicit SearchTurn(Pool& pool) : pool_(pool) {
    MutexLock lock(pool.mutex_);
    const auto until = Clock::now() + kSearchPatience;
    while (pool.searching_ && pool.searched_.WaitUntil(lock, until)) continue;
    if (pool.searching_) {
      throw MySqlError(MySqlError::Kind::kAway, 0, "no database server has answered yet");
    }
    pool.searching_ = true;
  }
  ~SearchTurn() {
    const MutexLock lock(pool_.mutex_);
    pool_.searching_ = false;
    pool_.searched_.NotifyOne();
  }
  SearchTurn(const SearchTurn&) = delete;
  SearchTurn& operator=(const SearchTurn&) = delete;

 private:
  Pool& pool_;
};

void Pool::Connect(Slot& slot) {
  if (ConnectToChosen(slot)) return;
  const SearchTurn turn(*this);
  if (ConnectToChosen(slot)) return;  // somebody has found one meanwhile
  if (failure_ && Clock::now() < failure_->until) throw failure_->Error();
  Choose(slot);
}

bool Pool::ConnectToChosen(Slot& slot) {
  const auto choice = Chosen();
  if (!choice) return false;
  if (ConnectTo(*choice, slot)) return true;
  Leave(choice->number);
  return false;
}

bool Pool::ConnectTo(const Choice& choice, Slot& slot) {
  for (int tries = 0; tries < kConnectTries; ++tries) {
    try {
      auto connection = std::make_unique<Connection>(config_, choice.address);
      if (connection->server().node != choice.server.node) continue;
      if (!connection->server().refusal.empty()) return false;
      slot.connection = std::move(connection);
      slot.choice = choice.number;
      return true;
    } catch (const MySqlError& error) {
      // It answers, and those who are connected may go on.
      if (error.code == kTooManyConnections || error.code == kAccessDenied) throw;
      return false;
    }
  }
  return false;
}

void Pool::Choose(Slot& slot) {
  std::optional<MySqlError> error;
  for (const Address& address : config_.addresses) {
    try {
      auto connection = std::make_unique<Connection>(config_, address);
      const Server& server = connection->server();
      if (!server.refusal.empty()) {
        throw MySqlError(MySqlError::Kind::kAway, 0,
                         address.host + " (" + server.name + ") is not used: " + server.refusal);
      }
      const MutexLock lock(mutex_);
      // Nothing has changed if it is the one that was left.
      if (server.node != node_) ++choices_;
      node_ = server.node;
      choice_ = Choice{address, server, choices_};
      slot.choice = choice_->number;
      slot.connection = std::move(connection);
      failure_.reset();
      return;
    } catch (const MySqlError& failed) {
      error = failed;
    }
  }
  if (!error) error.emplace(MySqlError::Kind::kOther, 0, "no address is given");
  const auto pause = failure_ ? std::min(2 * failure_->pause, kSearchPauseMax) : kSearchPauseMin;
  failure_ = Failure{error->kind, error->code, error->what(), pause, Clock::now() + pause};
  throw failure_->Error();
}

void Pool::Leave(uint64_t choice) {
  const MutexLock lock(mutex_);
  if (choice_ && choice_->number == choice) choice_.reset();
}

std::optional<Pool::Choice> Pool::Chosen() const {
  const MutexLock lock(mutex_);
  return choice_;
}

StoreActivity Pool::Activity() const {
  const MutexLock lock(mutex_);
  const auto idle =
      std::ranges::count_if(free_, [](const Slot* slot) { return slot->connection != nullptr; });
  return {.connections_busy = slots_.size() - free_.size(),
          .connections_idle = static_cast<size_t>(idle),
          .connections_max = slots_.size()};
}

void Pool::Return(Slot& slot) {
  {
    const MutexLock lock(mutex_);
    slot.returned_at = Clock::now();
    free_.push_back(&slot);
  }
  returned_.NotifyOne();
}

}  // namespace tenure::mysql
