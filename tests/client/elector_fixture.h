// Electors of this process, on running servers.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tenure/elector.h"
#include "tests/rpc/service_fixture.h"

namespace tenure::testing {

// The callbacks of an elector, in order. Thread-safe.
class Diary {
 public:
  void Write(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
    changed_.notify_all();
  }
  // Waits until a line was written this many times.
  void WaitFor(const std::string& line, int times = 1) {
    std::unique_lock lock(mutex_);
    const bool found = changed_.wait_for(lock, kPatience,
                                         [&] { return std::ranges::count(lines_, line) >= times; });
    EXPECT_TRUE(found) << line << " is not in " << ::testing::PrintToString(lines_);
  }
  [[nodiscard]] std::vector<std::string> Lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  // Options of an elector that writes here. Its work lasts until it is asked to stop.
  [[nodiscard]] ElectorOptions Options(const std::string& election) {
    ElectorOptions options{.election = election};
    options.on_elected = [this](const v1::Leadership& seat) {
      Write("elected " + std::to_string(seat.term()));
    };
    options.on_lost = [this](const v1::Leadership& seat, v1::Cause cause) {
      Write("lost " + std::to_string(seat.term()) + " " + v1::Cause_Name(cause).substr(6));
    };
    options.on_suspended = [this](const v1::Leadership&) { Write("suspended"); };
    options.on_resumed = [this](const v1::Leadership&) { Write("resumed"); };
    options.on_refused = [this](const grpc::Status& status) {
      Write("refused " + ReasonOf(status));
    };
    options.on_overrun = [this](const v1::Leadership&) { Write("overrun"); };
    return options;
  }
  [[nodiscard]] ElectorOptions WorkingOptions(const std::string& election) {
    ElectorOptions options = Options(election);
    options.lead = [this](const v1::Leadership& seat, const std::stop_token& stop) {
      Write("works " + std::to_string(seat.term()));
      WaitForStop(stop);
      Write("stopped " + std::to_string(seat.term()));
    };
    return options;
  }
  static void WaitForStop(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

class ElectorTest : public ServiceTest {
 protected:
  [[nodiscard]] std::string BothEndpoints() { return A().endpoint() + "," + B().endpoint(); }
  [[nodiscard]] Client NewClient(const std::string& candidate,
                                 std::chrono::milliseconds lease_ttl = 30s,
                                 const std::string& endpoints = "") {
    return Client({.endpoints = endpoints.empty() ? BothEndpoints() : endpoints,
                   .candidate = candidate,
                   .lease_ttl = lease_ttl});
  }
  // Waits for this many further renewals at these replicas.
  static void WaitForRenewals(const std::vector<Tenured*>& replicas, int count) {
    const auto renewals = [&] {
      double sum = 0;
      for (const Tenured* replica : replicas) sum += replica->Metric("tenure_renewals_total");
      return sum;
    };
    const double before = renewals();
    EXPECT_TRUE(Eventually([&] { return renewals() >= before + count; }));
  }
  void WaitForRenewals(int count) { WaitForRenewals({&A(), &B()}, count); }
  // The leader by the service's account; empty if nobody leads.
  [[nodiscard]] std::string LeaderOf(const std::string& election) {
    return Leader(B(), election).leader().candidate();
  }
};

}  // namespace tenure::testing
