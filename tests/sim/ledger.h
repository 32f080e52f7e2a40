// The auditor's books about operators: which orders took effect, and what follows from them for
// who may lead, and when. Written from events and from the records that the store keeps, and not
// from what the law wrote into the election.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/sim/world.h"

namespace tenure::sim {

class Ledger {
 public:
  Ledger(World& world, Store& truth) : world_(world), truth_(truth) {}

  // A transaction has ended: reads what it recorded.
  void BeginTransaction();
  // Checks the records of one election: each belongs to an order, which took effect once, on the
  // term that it named; and whatever only operators change was recorded.
  void CheckRecords(const Election& before, const Election& after,
                    const std::vector<Event>& events);
  // Checks an election that is gone. `wanted`: somebody waited.
  void CheckPurge(const Election& before, bool wanted);
  // Then its events, in order.
  // `goes_on`: the leader itself, in its next term.
  void CheckGrant(const Election& before, const Event& event, bool goes_on);
  void CheckHandover(const Event& event);
  // `session`: the leader's.
  void CheckVacancy(const Election& before, const Event& event, const Session* session);
  void EndElection(const ElectionName& name);

  void CheckSessionDeposed(const Session& session) const;

  // --- What is known ---

  // Whether this candidate goes first, whatever the queue says.
  [[nodiscard]] bool IsAppointed(const Election& before, const std::string& candidate) const;
  // Whether an operator wants somebody to lead next, or did before this transaction.
  [[nodiscard]] bool IsAnyAppointed(const Election& before) const;
  [[nodiscard]] bool WasDeleted(const ElectionName& name) const {
    return Recorded(name, AdminAction::kDeleted);
  }
  // Whether a vacant seat might have gone to this candidate at any time since then.
  [[nodiscard]] bool MayLead(const Election& election, const Candidacy& candidacy,
                             DbTime since) const;
  [[nodiscard]] bool IsKeptOut(const ElectionName& name, const std::string& candidate,
                               DbTime at) const;
  [[nodiscard]] uint64_t records() const { return last_number_; }

 private:
  struct Record {
    AdminChange change;
    size_t order = 0;
  };
  struct Book {
    DbTime reopens_at;  // no grant is made before
    std::map<std::string, DbTime> cool_downs;
    std::optional<size_t> last_order;  // that took effect
  };

  void CheckRecord(const Election& before, const Election& after, const std::vector<Event>& events,
                   const Record& record);
  void CheckTakesEffectOnce(const Election& before, const Election& after,
                            const std::vector<Event>& events, const Record& record);
  [[nodiscard]] bool Recorded(const ElectionName& name, AdminAction action) const;
  // The command of a kind that took effect in this transaction.
  template <typename It, typename Predicate>
  [[nodiscard]] const It* FindOrder(const ElectionName& name, Predicate predicate) const;
  // Whether an Appoint by force has ended the delay for this candidate: it named the candidate, or
  // another one, which a later order of the transaction has replaced.
  [[nodiscard]] bool IsOpenedFor(const std::string& candidate, const ElectionName& name) const;
  // The shortest that any of the settings of this transaction asks for.
  [[nodiscard]] Duration Shortest(const Election& before, Duration Settings::*of_settings,
                                  std::optional<Duration> Configure::*of_command) const;
  [[nodiscard]] Duration DelayAfter(const Election& before, const Event& event) const;

  World& world_;
  Store& truth_;
  uint64_t last_number_ = 0;
  std::vector<Record> records_;  // of the transaction
  std::map<ElectionName, Book> books_;
};

}  // namespace tenure::sim
