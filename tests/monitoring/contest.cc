#include "tests/monitoring/contest.h"

#include <gtest/gtest.h>

#include <csignal>
#include <utility>

#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

constexpr size_t kCandidates = 3;

}  // namespace

Contest::Contest(Tenured& replica, std::string endpoints, std::string election, std::string lease)
    : replica_(replica),
      endpoints_(std::move(endpoints)),
      election_(std::move(election)),
      lease_(std::move(lease)) {
  FillUp();
}

void Contest::Start() {
  const std::string name = "host-" + std::to_string(++started_);
  candidates_[name] = std::make_unique<Process>(
      std::vector<std::string>{Program("tenure"), "--endpoint", endpoints_, "campaign", election_,
                               "--candidate", name, "--ttl", lease_});
}

void Contest::FillUp() {
  std::erase_if(candidates_, [](const auto& candidate) { return !candidate.second->Running(); });
  while (candidates_.size() < kCandidates) Start();
  EXPECT_TRUE(Eventually([&] {
    return !Leader(replica_, election_).leader().candidate().empty() &&
           ListQueue(replica_, election_).size() == kCandidates - 1;
  }));
}

uint64_t Contest::term() { return Leader(replica_, election_).term(); }

void Contest::WaitForTheTermAfter(uint64_t last) {
  EXPECT_TRUE(Eventually([&] { return term() > last; }));
  FillUp();
}

void Contest::CrashTheLeader() {
  const v1::LeaderResponse lead = Leader(replica_, election_);
  Process& process = *candidates_.at(lead.leader().candidate());
  process.Signal(SIGKILL);
  process.Wait();
  WaitForTheTermAfter(lead.leader().term());
}

void Contest::HandOver() {
  const v1::LeaderResponse lead = Leader(replica_, election_);
  Process& process = *candidates_.at(lead.leader().candidate());
  Appoint(replica_, {.election = election_,
                     .term = lead.leader().term(),
                     .candidate = ListQueue(replica_, election_).front().candidate(),
                     .reason = "a host is drained"});
  process.Wait();
  WaitForTheTermAfter(lead.leader().term());
}

}  // namespace tenure::testing
