#include "bench/works/crowd.h"

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr size_t kThreads = 32;
constexpr auto kPatience = 60s;
constexpr auto kLookAgain = 20ms;  // counting a long queue is work for the service, too

}  // namespace

void InParallel(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::future<void>> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (size_t number = next++; number < count; number = next++) work(number);
    }));
  }
  for (auto& thread : threads) thread.get();
}

void WaitUntilStanding(System& system, const std::string& election, uint64_t count) {
  const auto deadline = Clock::now() + kPatience;
  while (system.CountStanding(election) != count) {
    if (Clock::now() > deadline)
      throw std::runtime_error("the candidates do not find their places");
    std::this_thread::sleep_for(kLookAgain);
  }
}

Crowd::Crowd(const std::vector<System*>& systems, size_t size, const CandidateOptions& options)
    : first_system_(*systems.front()), members_(size) {
  InParallel(size, [&](size_t member) {
    CandidateOptions own = options;
    own.name += "-" + std::to_string(member);
    members_[member] = systems[member % systems.size()]->NewCandidate(own);
  });
}

Crowd::~Crowd() {
  InParallel(members_.size(), [&](size_t member) { members_[member].reset(); });
}

void Crowd::Stand(const std::string& election) {
  const uint64_t before = first_system_.CountStanding(election);
  InParallel(members_.size(), [&](size_t member) {
    members_[member]->Stand(election, [this, member](const std::string& error) {
      mailbox_.Put({{member, Clock::now()}, error});
    });
  });
  WaitUntilStanding(first_system_, election, before + members_.size());
}

Crowd::Told Crowd::NextTold() {
  auto message = mailbox_.Take(Clock::now() + kPatience);
  if (!message) throw std::runtime_error("no candidate learns that it leads");
  if (!message->error.empty()) throw std::runtime_error("a candidate failed: " + message->error);
  return message->told;
}

}  // namespace tenure::bench
