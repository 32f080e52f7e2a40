// Candidates that are made from nothing but the .proto file contend for one election.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/polyglot/stubs/candidate.h"
#include "tests/polyglot/stubs/reign.h"
#include "tests/support/administration.h"
#include "tests/support/database_server.h"

namespace tenure::testing {
namespace {

constexpr auto kElection = "orders";
constexpr int64_t kLeaseMs = 2000;

class StubsTest : public ::testing::Test {
 protected:
  // --- The cast ---

  // Half of them begin with either replica.
  Candidate& Start() {
    const size_t count = candidates_.size();
    const std::string endpoints =
        replicas_[count % 2]->endpoint() + "," + replicas_[(count + 1) % 2]->endpoint();
    candidates_.push_back(
        std::make_unique<Candidate>("host-" + std::to_string(count), kElection, endpoints));
    return *candidates_.back();
  }

  void WaitUntilItStands(Candidate& candidate) {
    candidate.WaitUntilItObserves();
    EXPECT_TRUE(Eventually([&] {
      if (Leader(Service(), kElection).leader().candidate() == candidate.name()) return true;
      const std::vector<v1::Candidate> queue = ListQueue(Service(), kElection);
      return std::ranges::find(queue, candidate.name(), &v1::Candidate::candidate) != queue.end();
    })) << candidate.name();
  }

  // --- Scenes ---

  // The leader is asked to make way, unless it is this one. Returns the term.
  uint64_t LetLead(Candidate& candidate) {
    WaitUntilItStands(candidate);
    const Reigning before = WaitForLeader();
    if (before.candidate == &candidate) return before.term;

    Appoint(Service(), {.election = kElection, .term = before.term, .candidate = candidate.name()});

    before.candidate->WaitFor("step_down", before.term);
    before.candidate->WaitFor("resigned", before.term);
    EXPECT_EQ(candidate.WaitForVacated(before.term), "RESIGNED");
    const Reigning after = WaitForLeader();
    EXPECT_EQ(after.candidate, &candidate);
    return after.term;
  }

  void KillReplica(size_t number, Candidate& leader, uint64_t term) {
    replicas_[number]->Kill();
    replicas_[number]->Start();

    // It has been renewed since: its earlier lease has expired.
    const int64_t later = leader.Lines().back().time_ms + kLeaseMs;
    leader.WaitFor("work", term, later);
    EXPECT_EQ(Leader(Service(), kElection).leader().term(), term);
  }

  void StopPastItsLease(Candidate& leader, uint64_t term) {
    leader.Stop();
    const Reigning next = WaitForAnotherLeader(term);
    EXPECT_EQ(next.candidate->WaitForVacated(term), "EXPIRED");

    leader.Continue();
    EXPECT_EQ(leader.WaitFor("lost", term).cause, "EXPIRED");
  }

  void Terminate(Candidate& leader, uint64_t term) {
    leader.Terminate();
    leader.WaitFor("resigned", term);

    EXPECT_EQ(WaitForAnotherLeader(term).candidate->WaitForVacated(term), "RESIGNED");
  }

  void Kill(Candidate& leader, uint64_t term) {
    leader.Kill();

    EXPECT_EQ(WaitForAnotherLeader(term).candidate->WaitForVacated(term), "EXPIRED");
  }

  // --- Who leads ---

  struct Reigning {
    Candidate* candidate;
    uint64_t term;
  };

  // Waits until somebody leads in a later term, knows it, and works.
  Reigning WaitForAnotherLeader(uint64_t than) {
    v1::Leadership leader;
    EXPECT_TRUE(Eventually([&] {
      leader = Leader(Service(), kElection).leader();
      return leader.term() > than;
    }));
    Candidate& candidate = **std::ranges::find(candidates_, leader.candidate(),
                                               [](const auto& it) { return it->name(); });
    candidate.WaitFor("elected", leader.term());
    candidate.WaitFor("work", leader.term());
    return {&candidate, leader.term()};
  }
  Reigning WaitForLeader() { return WaitForAnotherLeader(0); }

  Tenured& Service() { return *replicas_.front(); }

  DatabaseServer database_;
  const std::string url_ = database_.FreshDatabase("tenure");
  const std::array<std::unique_ptr<Tenured>, 2> replicas_ = {std::make_unique<Tenured>(url_),
                                                             std::make_unique<Tenured>(url_)};
  std::vector<std::unique_ptr<Candidate>> candidates_;  // those that have ended, too
};

TEST_F(StubsTest, ALeaderIsSucceededWhateverHappens) {
  for (int i = 0; i < 2; ++i) Start();
  WaitForLeader();  // until somebody has campaigned, there is no queue to ask for

  for (const size_t replica : {0, 1}) {
    Candidate& candidate = Start();
    const uint64_t first = LetLead(candidate);
    KillReplica(replica, candidate, first);
    StopPastItsLease(candidate, first);
    if (HasFailure()) return;

    Terminate(candidate, LetLead(candidate));
    if (HasFailure()) return;

    Candidate& another = Start();
    Kill(another, LetLead(another));
    if (HasFailure()) return;
  }

  std::vector<Reign> reigns;
  std::map<std::string, std::vector<Line>> lines;
  for (const auto& candidate : candidates_) {
    lines[candidate->name()] = candidate->Lines();
    std::ranges::copy(ReignsOf(candidate->name(), lines[candidate->name()]),
                      std::back_inserter(reigns));
  }
  EXPECT_GE(reigns.size(), 6U);
  ExpectOneLeaderAtATime(reigns);
  ExpectOneHistory(lines);
}

}  // namespace
}  // namespace tenure::testing
