#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include "client/cpp/fake/service.h"
#include "client/cpp/io/test_clock.h"
#include "tenure/testing.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

// In real time.
constexpr auto kPatience = 10s;
constexpr auto kCallbackPatience = 1s;

std::chrono::steady_clock::time_point Later() {
  return std::chrono::steady_clock::now() + kPatience;
}

// A client's answer; nothing if the client has ended, or takes too long.
template <typename T, typename Ask>
std::optional<T> AnswerOf(const Ask& ask, std::chrono::seconds patience) {
  auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  ask(std::move(promise));
  try {
    if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
  } catch (const std::future_error&) {  // the promise is broken
  }
  return std::nullopt;
}

}  // namespace

class FakeTenure::State {
 public:
  // Returns when a client next has something to do.
  Lease::Time Settle() {
    (void)Rest();
    for (const TestClock::Member& member : clock->members()) {
      (void)AnswerOf<bool>(member.callbacks, kCallbackPatience);
    }
    return Rest();
  }

  const std::shared_ptr<TestClock> clock = std::make_shared<TestClock>();
  FakeService service{clock};

 private:
  // Waits until no client has anything left to do or to receive.
  [[nodiscard]] Lease::Time Rest() const {
    const auto give_up_at = Later();
    while (std::chrono::steady_clock::now() < give_up_at) {
      const size_t before = service.activity();
      Lease::Time wake = Lease::Time::max();
      bool settled = true;
      for (const TestClock::Member& member : clock->members()) {
        const auto rest = AnswerOf<TestClock::Rest>(member.rest, kPatience);
        if (!rest) continue;
        wake = std::min(wake, rest->wake);
        settled = settled && !rest->awaits_answer && service.WasHeard(*rest);
      }
      if (settled && service.activity() == before) return wake;
      std::this_thread::yield();
    }
    throw std::runtime_error("FakeTenure: a client does not come to rest");
  }
};

FakeTenure::FakeTenure() : state_(std::make_unique<State>()) {}

FakeTenure::~FakeTenure() = default;

ClientOptions FakeTenure::Options(const std::string& candidate) const {
  return {
      .endpoints = endpoint(), .candidate = candidate, .log = nullptr, .test_clock = state_->clock};
}

std::string FakeTenure::endpoint() const { return state_->service.endpoint(); }

void FakeTenure::Settle() { (void)state_->Settle(); }

void FakeTenure::Advance(std::chrono::nanoseconds time) {
  if (time < 0ns) throw std::invalid_argument("the clock cannot be set back");
  const Lease::Time end = state_->clock->Now() + time;
  while (true) {
    const Lease::Time wake = state_->Settle();
    const Lease::Time now = state_->clock->Now();
    if (now >= end) return;
    const Lease::Time next = std::max(now + 1ms, std::min(wake, state_->service.NextDue()));
    state_->clock->Set(std::min(next, end));
    // Clients first: a lease ends for its holder before it does for the service.
    (void)state_->Settle();
    state_->service.Expire();
  }
}

void FakeTenure::Cut(const std::vector<std::string>& candidates) {
  state_->service.Cut(candidates);
  Settle();
}

void FakeTenure::Restore(const std::vector<std::string>& candidates) {
  state_->service.Restore(candidates);
}

bool FakeTenure::Depose(const std::string& election) {
  const bool deposed = state_->service.Depose(election);
  Settle();
  return deposed;
}

bool FakeTenure::Appoint(const std::string& election, const std::string& candidate) {
  const bool appointed = state_->service.Appoint(election, candidate);
  Settle();
  return appointed;
}

std::optional<v1::Leadership> FakeTenure::Leader(const std::string& election) const {
  return state_->service.Leader(election);
}

std::vector<std::string> FakeTenure::Queue(const std::string& election) const {
  return state_->service.Queue(election);
}

uint64_t FakeTenure::AwaitLeader(const std::string& election, const std::string& candidate) {
  const auto give_up_at = Later();
  while (std::chrono::steady_clock::now() < give_up_at) {
    Settle();
    const auto leader = Leader(election);
    if (leader && leader->candidate() == candidate) return leader->term();
    std::this_thread::yield();
  }
  throw std::runtime_error("FakeTenure: " + candidate + " does not lead " + election);
}

}  // namespace tenure
