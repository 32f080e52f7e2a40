#include "storage/mysql/pool.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "storage/mysql/session.h"

namespace tenure::mysql {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kIdleMax = kSilenceMax - std::chrono::seconds(1);
// Pause between two searches for a server.
constexpr std::chrono::milliseconds kSearchPauseMin{50};
constexpr std::chrono::milliseconds kSearchPauseMax{1000};
// How long a borrower waits for another's login, or for another's connection if its own login is
// refused.
constexpr std::chrono::seconds kSearchPatience{2};
// A load-balancing proxy may connect us to a different server. Maximum attempts to reach the one in
// use.
constexpr int kConnectTries = 4;

// The number of no server.
constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

std::string NameOf(const Address& address) {
  return address.host + ":" + std::to_string(address.port);
}

std::string RandomBytes(size_t count) {
  std::random_device device;
  std::string bytes(count, '\0');
  std::ranges::generate(bytes, [&] { return static_cast<char>(device()); });
  return bytes;
}

}  // namespace

Pool::Pool(Config config, std::chrono::milliseconds patience)
    : addresses_(config.addresses),
      patience_(patience),
      order_(addresses_),
      logins_(std::move(config)) {
  for (size_t i = 0; i < logins_.config().connections_max; ++i) {
    slots_.push_back(std::make_unique<Slot>(Slot{RandomBytes(16)}));
    free_.push_back(slots_.back().get());
  }
}

Pool::Loan Pool::Borrow(Where where) {
  std::unique_ptr<Connection> useless;  // closed without the lock
  MutexLock lock(mutex_);
  const auto until = Clock::now() + patience_;
  while (free_.empty() && returned_.WaitUntil(lock, until)) continue;
  if (free_.empty()) {
    throw MySqlError(MySqlError::Kind::kAway, 0,
                     "all " + std::to_string(slots_.size()) + " database connections are in use");
  }
  // A connected slot first: the server may accept no further connection.
  Slot* slot = FindUsable();
  if (slot == nullptr) {
    slot = free_.back();
    useless = std::move(slot->connection);
  }
  std::erase(free_, slot);
  slot->connected = slot->connection != nullptr;
  return {*this, *slot, where};
}

Pool::Slot* Pool::FindUsable() const {
  if (!choice_) return nullptr;
  const auto now = Clock::now();
  for (auto slot = free_.rbegin(); slot != free_.rend(); ++slot) {
    const bool silent = now - (*slot)->returned_at > kIdleMax;
    const bool left = (*slot)->choice != choice_->number;
    if ((*slot)->connection != nullptr && !silent && !left) return *slot;
  }
  return nullptr;
}

bool Pool::OthersAreConnected(const Slot& slot) const {
  if (!choice_) return false;
  for (const auto& other : slots_) {
    const bool lent = std::ranges::find(free_, other.get()) == free_.end();
    const bool connected = other->connected && other->choice == choice_->number;
    if (other.get() != &slot && lent && connected) return true;
  }
  return false;
}

Connection& Pool::Loan::connection() {
  if (slot_.connection == nullptr) {
    const auto choice = pool_.Chosen();
    if (where_ == Where::kStaying && choice) pool_.CheckStaying(choice->number);
    fresh_ = pool_.Connect(slot_);
  }
  if (where_ == Where::kStaying) pool_.CheckStaying(slot_.choice);
  return *slot_.connection;
}

void Pool::CheckStaying(uint64_t choice) const {
  const uint64_t stay_on = stay_on_;
  if (stay_on == 0 || choice == stay_on) return;
  throw MySqlError(MySqlError::Kind::kAway, 0,
                   "a different database server answers now, and has not been checked yet");
}

class Pool::SearchTurn {
 public:
  // Waits for the turn. Throws kAway if another borrower has it for too long.
  explicit SearchTurn(Pool& pool) : pool_(pool) {
    MutexLock lock(pool.mutex_);
    const auto until = Clock::now() + kSearchPatience;
    while (pool.searching_ && pool.searched_.WaitUntil(lock, until)) continue;
    if (pool.searching_) {
      throw MySqlError(MySqlError::Kind::kAway, 0,
                       pool.Addresses() + ": no database server has answered yet");
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

bool Pool::Connect(Slot& slot) {
  try {
    MakeConnection(slot);
  } catch (const MySqlError&) {
    if (!TakeOver(slot)) throw;
    return false;
  }
  const MutexLock lock(mutex_);
  slot.connected = true;
  return true;
}

void Pool::MakeConnection(Slot& slot) {
  const SearchTurn turn(*this);
  if (failure_ && Clock::now() < failure_->until) throw failure_->Error();
  try {
    if (!ConnectToChosen(slot)) Choose(slot);
    failure_.reset();
  } catch (const MySqlError& error) {
    const auto pause = failure_ ? std::min(2 * failure_->pause, kSearchPauseMax) : kSearchPauseMin;
    failure_ = Failure{error.kind, error.code, error.what(), pause, Clock::now() + pause};
    throw failure_->Error();
  }
}

bool Pool::TakeOver(Slot& slot) {
  MutexLock lock(mutex_);
  const auto until = Clock::now() + kSearchPatience;
  while (choice_) {
    if (Slot* const usable = FindUsable()) {
      slot.connection = std::move(usable->connection);
      slot.choice = usable->choice;
      slot.connected = true;
      return true;
    }
    if (!OthersAreConnected(slot) || !returned_.WaitUntil(lock, until)) return false;
  }
  return false;
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
      auto connection = logins_.LogIn(choice.address);
      if (connection->server().node != choice.server.node) continue;
      if (!connection->server().refusal.empty()) return false;
      slot.connection = std::move(connection);
      const MutexLock lock(mutex_);
      slot.choice = choice.number;
      return true;
    } catch (const MySqlError& error) {
      if (ServerIsGone(error)) return false;
      const MutexLock lock(mutex_);
      if (FindUsable() == nullptr && !OthersAreConnected(slot)) return false;
      throw;
    }
  }
  return false;
}

void Pool::Choose(Slot& slot) {
  std::string reasons;  // of each address, in the order of the URL
  int code = 0;
  for (const Address& address : InOrder()) {
    try {
      auto connection = logins_.LogIn(address);
      const Server& server = connection->server();
      if (!server.refusal.empty()) {
        throw MySqlError(MySqlError::Kind::kAway, 0,
                         server.name + " is not used: " + server.refusal);
      }
      const MutexLock lock(mutex_);
      // The number stays if this is the server that was left.
      const std::string node = server.node + " at " + NameOf(address);
      if (std::exchange(node_, node) != node) ++choices_;
      choice_ = Choice{address, server, choices_};
      slot.choice = choice_->number;
      slot.connection = std::move(connection);
      return;
    } catch (const MySqlError& error) {
      code = error.code;
      if (!reasons.empty()) reasons += "; ";
      reasons += NameOf(address) + ": " + error.what();
    }
  }
  if (reasons.empty()) reasons = "no address is given";
  throw MySqlError(MySqlError::Kind::kAway, code, reasons);
}

std::vector<Address> Pool::InOrder() const {
  const MutexLock lock(mutex_);
  return order_;
}

std::string Pool::Addresses() const {
  std::string all;
  for (const Address& address : addresses_) {
    if (!all.empty()) all += ", ";
    all += NameOf(address);
  }
  return all;
}

void Pool::LeaveServer() {
  stay_on_ = kNowhere;
  const MutexLock lock(mutex_);
  if (!choice_) return;
  const auto left = std::find(order_.begin(), order_.end(), choice_->address);
  if (left != order_.end()) std::rotate(left, left + 1, order_.end());
  choice_.reset();
  node_.clear();  // no connection to it may be used any more
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

void Pool::Drop(Slot& slot) {
  slot.connection.reset();
  const MutexLock lock(mutex_);
  slot.connected = false;
}

void Pool::Return(Slot& slot) {
  {
    const MutexLock lock(mutex_);
    slot.returned_at = Clock::now();
    slot.connected = slot.connection != nullptr;
    free_.push_back(&slot);
  }
  returned_.NotifyAll();  // some wait for any slot, others for a connected one
}

}  // namespace tenure::mysql
