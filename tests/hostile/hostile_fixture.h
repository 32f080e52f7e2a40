// One replica with a memory limit, and a healthy leader, on which attacks are tried.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/hostile/attacker.h"
#include "tests/hostile/healthy_leader.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

class HostileTest : public ::testing::Test {
 protected:
  // Memory that it may write to, and descriptors.
  static constexpr char kMemory[] = "--data=536870912";
  static constexpr char kDescriptors[] = "--nofile=1024";

  void SetUp() override {
    server_ =
        std::make_unique<Tenured>("sqlite:" + (folder_.path() / "tenure.db").string(), Flags(),
                                  true, Host{.enter = {"prlimit", kMemory, kDescriptors}});
    leader_ = std::make_unique<HealthyLeader>(*server_, "healthy seat");
  }
  [[nodiscard]] virtual std::vector<std::string> Flags() const { return {}; }

  Tenured& Server() { return *server_; }
  HealthyLeader& TheLeader() { return *leader_; }

  // Whoever comes next is served, the seat was kept, and memory did not run out.
  void ExpectUnharmed() {
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(Server().process().Running()) << Server().process().Errors();
    v1::LeaderRequest request;
    request.set_election("healthy seat");
    v1::LeaderResponse response;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    context.set_wait_for_ready(true);
    const auto status = Connect(Server().endpoint())->Leader(&context, request, &response);
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(Server().Get("/healthz").first, 200);
    TheLeader().ExpectSeat();
    std::cout << "served a new client after "
              << std::chrono::ceil<std::chrono::milliseconds>(took).count() << " ms; worst renewal "
              << TheLeader().WorstRenewal().count() << " ms; " << PeakMemory() << std::endl;
  }
  // "VmHWM: 40000 kB".
  [[nodiscard]] std::string PeakMemory() {
    const Finished grep = RunToEnd(
        {"grep", "VmHWM", "/proc/" + std::to_string(Server().process().pid()) + "/status"});
    return grep.output.substr(0, grep.output.find('\n'));
  }

  TempDir folder_;
  std::unique_ptr<Tenured> server_;
  std::unique_ptr<HealthyLeader> leader_;
};

}  // namespace tenure::testing
