// Leaders are stopped (SIGSTOP) for longer than their lease, and go on (SIGCONT), again and again:
// none believes in its old term again, and none still believed when its successor was elected.
//
// TENURE_TEST_STALLS=1000 sets the number of stalls, TENURE_TEST_SEED chooses other moments.
#include <google/protobuf/util/time_util.h>

#include <csignal>
#include <random>

#include "tests/client/elector_fixture.h"

namespace tenure::testing {
namespace {

using google::protobuf::util::TimeUtil;

constexpr int kElections = 8;
constexpr auto kLease = 1000ms;

int FromEnvironment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::stoi(value) : otherwise;
}

// An election with two candidates, whose leader is stopped again and again.
class StalledElection {
 public:
  StalledElection(Tenured& server, const std::string& endpoints, const std::string& name, int seed)
      : server_(server), name_(name), random_(seed) {
    for (const char* candidate : {"a", "b"}) {
      probes_.push_back(std::make_unique<Process>(std::vector<std::string>{
          TENURE_STALL_PROBE, endpoints, name, candidate, std::to_string(kLease.count())}));
    }
  }

  // Stops the leader until another leads and the lease has long expired.
  void StallOnce() {
    Process* const leader = WaitForLeader();
    if (leader == nullptr) return;
    std::this_thread::sleep_for(Random(0ms, kLease / 3));  // at any moment between two renewals
    leader->Signal(SIGSTOP);
    std::this_thread::sleep_for(Random(kLease, kLease * 3 / 2));
    const uint64_t next_term = ++term_;
    EXPECT_TRUE(Eventually([&] { return Leader(server_, name_).term() >= next_term; }))
        << name_ << ": no term " << next_term << Told();
    leader->Signal(SIGCONT);
    const std::string end = "led " + std::to_string(next_term - 1) + " ";
    EXPECT_TRUE(Eventually([&] { return HasLine(*leader, end); }))
        << name_ << ": no " << end << Told();
  }

  // Every answer "yes" in a term was given before the next term began.
  void CheckBeliefs() {
    Observer observer(server_, Election(name_, 1));
    std::map<uint64_t, int64_t> began;  // by the database's clock, which is this machine's
    for (const v1::Event& event : observer.WaitForEvents(Leader(server_, name_).revision())) {
      if (event.type() != v1::Event::TYPE_ELECTED) continue;
      began[event.leadership().term()] = TimeUtil::TimestampToMicroseconds(event.time());
    }
    for (const auto& probe : probes_) {
      for (const std::string& line : probe->Lines()) {
        EXPECT_FALSE(line.starts_with("LEADS AGAIN")) << name_ << ": " << line;
        std::istringstream words(line);
        std::string led;
        uint64_t term = 0;
        int64_t last = 0;
        if (!(words >> led >> term >> last) || !began.contains(term + 1)) continue;
        ++checked_;
        EXPECT_LT(last, began[term + 1]) << name_ << ": " << line;
      }
    }
  }
  [[nodiscard]] int checked() const { return checked_; }

 private:
  // nullptr if nobody leads in time, which also fails the test.
  Process* WaitForLeader() {
    Process* leader = nullptr;
    EXPECT_TRUE(Eventually([&] {
      for (const auto& probe : probes_) {
        const auto lines = probe->Lines();
        if (!lines.empty() && lines.back().starts_with("leads ")) {
          leader = probe.get();
          term_ = std::stoull(lines.back().substr(6));
        }
      }
      return leader != nullptr && Leader(server_, name_).term() == term_;
    })) << name_
        << ": nobody leads" << Told();
    return leader;
  }
  [[nodiscard]] std::string Told() const {
    std::string text;
    for (const auto& probe : probes_) {
      text += "\nprobe " + std::to_string(probe->pid()) + ":\n" + probe->Output() + probe->Errors();
    }
    return text;
  }
  static bool HasLine(const Process& probe, const std::string& beginning) {
    const auto lines = probe.Lines();
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.starts_with(beginning); });
  }
  std::chrono::milliseconds Random(std::chrono::milliseconds least,
                                   std::chrono::milliseconds most) {
    return std::chrono::milliseconds(
        std::uniform_int_distribution<int64_t>(least.count(), most.count())(random_));
  }

  Tenured& server_;
  const std::string name_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<Process>> probes_;
  uint64_t term_ = 0;
  int checked_ = 0;
};

class StallTest : public ElectorTest {
  // Leases that grow with each stall would make the stalls ever longer.
  [[nodiscard]] std::vector<std::string> Flags() const override { return {"--no-adaptive-leases"}; }
};
INSTANTIATE_TEST_SUITE_P(Stores, StallTest, ::testing::Values(StoreKind::kMariaDb), StoreKindName);

TEST_P(StallTest, AProcessStoppedPastItsLeaseNeverBelievesInThatTermAgain) {
  const int rounds = (FromEnvironment("TENURE_TEST_STALLS", 40) + kElections - 1) / kElections;
  const int seed = FromEnvironment("TENURE_TEST_SEED", 1);
  std::vector<std::unique_ptr<StalledElection>> elections;
  for (int i = 0; i < kElections; ++i) {
    elections.push_back(std::make_unique<StalledElection>(
        A(), BothEndpoints(), "e" + std::to_string(i), seed * kElections + i));
  }

  std::vector<std::jthread> threads;
  for (auto& election : elections) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) election->StallOnce();
    });
  }
  threads.clear();

  int checked = 0;
  for (auto& election : elections) {
    election->CheckBeliefs();
    checked += election->checked();
  }
  std::cout << rounds * kElections << " stalls, " << checked << " terms checked" << std::endl;
  EXPECT_GE(checked, rounds * kElections);
}

}  // namespace
}  // namespace tenure::testing
