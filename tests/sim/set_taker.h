// A client that takes the seats of several elections, all or none: its calls wait for them, or ask
// once. Each answer says whether it has them, and renews. It never waits in a queue.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "tests/sim/client.h"

namespace tenure::sim {

class SetTaker final : public Client {
 public:
  using Client::Client;

  void Start() override { BeginAgain(); }
  [[nodiscard]] std::optional<Term> BelievedTerm(const ElectionName& election) const override;

 private:
  // With another set, and a session for it.
  void BeginAgain();
  void Ask();
  void AskLater(Duration pause);
  void OnAnswer(Time sent_at, const Result<calls::CampaignReply>& answer);
  void Write();
  void ResignAll();

  std::set<ElectionName> set_;
  std::shared_ptr<Call> call_;
  uint64_t calls_ = 0;
  std::vector<Leadership> held_;  // by the last answer: all of them, or none
  Lease lease_;
  Time resign_at_{};
};

}  // namespace tenure::sim
