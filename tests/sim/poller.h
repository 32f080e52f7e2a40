// A client that only ever calls Campaign with no wait, again and again, in several elections with
// one session: each answer says whether it leads, and renews.
#pragma once

#include <map>

#include "tests/sim/client.h"

namespace tenure::sim {

class Poller final : public Client {
 public:
  Poller(World& world, Network& network, Resource& resource, const Auditor& auditor, int number);

  void Start() override;
  [[nodiscard]] std::optional<Term> BelievedTerm(const ElectionName& election) const override;

 private:
  struct Seat {
    std::shared_ptr<Call> call;
    uint64_t calls = 0;
    std::optional<Term> term;  // led, by the last answer
    Lease lease;
    Term resigned;      // the last: it may still be on its way, and is not believed in again
    bool done = false;  // had its turn since the trouble ended
  };

  void Ask(const ElectionName& election);
  void OnAnswer(const ElectionName& election, Time sent_at,
                const Result<calls::CampaignReply>& stood);
  void AskLater(const ElectionName& election, Duration pause);
  void ResignSeat(const ElectionName& election, Seat& seat);
  void BeginAgain();

  std::map<ElectionName, Seat> seats_;
};

}  // namespace tenure::sim
