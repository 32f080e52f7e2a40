// The connections of a store, all to one server.
//
// The pool is sticky: the first server in the list that may be used is used for everything, until
// it is lost. Then all connections are dropped, and the next server is chosen once, for all. While
// there is none, one borrower at a time looks for it, at growing intervals; the others get the last
// result at once.
//
// One login is under way at a time. If one fails, but the server is not gone
// (storage/mysql/logins.h), its connections stay in use, and a borrower without one waits for one
// of them. A server that is gone, or to which no connection is left, is lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "storage/mysql/connection.h"
#include "storage/mysql/logins.h"
#include "storage/store.h"

namespace tenure::mysql {

class Pool {
 public:
  // A place for one connection, made when it is first needed. `writer` names it in the table of
  // that name, and `transaction` counts what it has committed.
  struct Slot {
    std::string writer;
    uint64_t transaction = 0;
    std::unique_ptr<Connection> connection = {};
    uint64_t choice = 0;  // number of the server that it is or was connected to
    std::chrono::steady_clock::time_point returned_at = {};
    bool connected = false;  // as far as the pool knows
  };

  // Whether a server other than the one to stay on is acceptable.
  enum class Where { kStaying, kAnywhere };

  // A slot on loan; goes back when destroyed.
  class Loan {
   public:
    Loan(Pool& pool, Slot& slot, Where where)
        : pool_(pool), slot_(slot), where_(where), fresh_(slot.connection == nullptr) {}
    ~Loan() { pool_.Return(slot_); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    Slot& slot() { return slot_; }
    // The slot's connection, which is made if there is none. Throws MySqlError.
    Connection& connection();
    // The loan began without a connection, and has not taken over one that was in use before.
    [[nodiscard]] bool fresh() const { return fresh_; }
    void Drop() { pool_.Drop(slot_); }
    // Drops all connections to this one's server, or to the one that had the number `choice` when
    // the slot was connected to it: it is no longer the one to use.
    void LeaveServer() { LeaveServer(slot_.choice); }
    void LeaveServer(uint64_t choice) { pool_.Leave(choice); }

   private:
    Pool& pool_;
    Slot& slot_;
    const Where where_;
    bool fresh_;
  };

  // How long a borrower waits for a slot.
  static constexpr std::chrono::seconds kBorrowTimeout{5};

  explicit Pool(Config config, std::chrono::milliseconds patience = kBorrowTimeout);

  // From now on, lends only connections to the server of this number, a slot's `choice`, except to
  // borrowers with kAnywhere. Thread-safe.
  void StayOn(uint64_t choice) { stay_on_ = choice; }
  // From now on, tries the server in use last. Until the next StayOn, lends connections only to
  // borrowers with kAnywhere. Thread-safe.
  void LeaveServer();

  // Waits a bounded time for a slot. Its connection is closed first if the server may have ended it
  // for silence, or is no longer in use. Throws kAway if none came free. Thread-safe.
  Loan Borrow(Where where = Where::kStaying);

  // Counts of connections. Thread-safe.
  [[nodiscard]] StoreActivity Activity() const;

 private:
  // The server that is used. Its number rises with each change of server.
  struct Choice {
    Address address;
    Server server;
    uint64_t number = 0;
  };
  // Why the last search failed, and until when that holds.
  struct Failure {
    // A copy of its own, for the caller's thread: copies of an exception share their text.
    [[nodiscard]] MySqlError Error() const { return {kind, code, message}; }

    MySqlError::Kind kind;
    int code;
    std::string message;
    std::chrono::milliseconds pause;
    std::chrono::steady_clock::time_point until;
  };

  // Only its holder logs in.
  class SearchTurn;

  // Gives the slot a connection. False if it took over another slot's.
  bool Connect(Slot& slot);
  void MakeConnection(Slot& slot);
  bool TakeOver(Slot& slot);
  // The last returned slot that is connected to the server in use, and not silent for too long;
  // null if there is none.
  [[nodiscard]] Slot* FindUsable() const TENURE_REQUIRES(mutex_);
  // Whether other slots are on loan and connected to the server in use.
  [[nodiscard]] bool OthersAreConnected(const Slot& slot) const TENURE_REQUIRES(mutex_);
  // Throws kAway if the server is not the one to stay on.
  void CheckStaying(uint64_t choice) const;
  // Sets the slot's connection to the chosen server. False if none is chosen, or it is lost.
  bool ConnectToChosen(Slot& slot);
  bool ConnectTo(const Choice& choice, Slot& slot);
  void Choose(Slot& slot);
  void Drop(Slot& slot);
  void Leave(uint64_t choice);
  // The addresses in the order in which they are to be tried.
  [[nodiscard]] std::vector<Address> InOrder() const;
  [[nodiscard]] std::optional<Choice> Chosen() const;
  [[nodiscard]] std::string Addresses() const;  // for people
  void Return(Slot& slot);

  const std::vector<Address> addresses_;  // as in the URL
  const std::chrono::milliseconds patience_;
  mutable Mutex mutex_;
  ConditionVariable returned_;
  ConditionVariable searched_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_ TENURE_GUARDED_BY(mutex_);  // the last returned is lent first
  std::optional<Choice> choice_ TENURE_GUARDED_BY(mutex_);
  std::vector<Address> order_ TENURE_GUARDED_BY(mutex_);  // in which they are tried
  std::string node_ TENURE_GUARDED_BY(mutex_);            // of the last server chosen
  uint64_t choices_ TENURE_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> stay_on_ = 0;                 // 0: anywhere
  bool searching_ TENURE_GUARDED_BY(mutex_) = false;  // a borrower has the turn
  // These belong to the holder of the turn.
  Logins logins_;
  std::optional<Failure> failure_;
};

}  // namespace tenure::mysql
