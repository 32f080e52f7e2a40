// One replica with little memory and few descriptors, and a healthy leader, on which attacks are
// tried.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/hostile/attacks.h"
#include "tests/hostile/healthy_leaders.h"
#include "tests/support/certificates.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

inline constexpr size_t kMemoryMax = 512 << 20;

// Limits descriptors, and also memory, so that the machine survives what the replica does not.
inline Host WithLimits(int descriptors = 1'024) {
  return {.enter = {"prlimit", "--data=2147483648", "--nofile=" + std::to_string(descriptors)}};
}

// How long it takes a new client to learn the leader of an election.
inline std::chrono::milliseconds TimeToServe(Tenured& server, const std::string& election,
                                             const std::shared_ptr<grpc::ChannelCredentials>&
                                                 credentials = grpc::InsecureChannelCredentials()) {
  const auto began = std::chrono::steady_clock::now();
  v1::LeaderRequest request;
  request.set_election(election);
  v1::LeaderResponse response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.set_wait_for_ready(true);
  const auto status = Connect(server.endpoint(), credentials)->Leader(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message() << server.process().Errors();
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
}

// The peak of its memory, in bytes.
inline size_t PeakMemory(Tenured& server) {
  std::ifstream status("/proc/" + std::to_string(server.process().pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  }
  return SIZE_MAX;
}

class HostileTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}, grpc::InsecureChannelCredentials()); }
  // `credentials` are those of the leader, and of the next client.
  void Start(const std::vector<std::string>& flags,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials,
             int descriptors = 1'024) {
    credentials_ = credentials;
    server_ = std::make_unique<Tenured>("sqlite:" + (folder_.path() / "tenure.db").string(), flags,
                                        true, WithLimits(descriptors));
    leader_ =
        std::make_unique<HealthyLeaders>(*server_, std::vector<std::string>{"seat"}, credentials);
  }

  Tenured& Server() { return *server_; }
  HealthyLeaders& Leader() { return *leader_; }

  // Expects that the next client is served, and that the seat was kept.
  void ExpectUnharmed() {
    ASSERT_TRUE(Server().process().Running()) << Server().process().Errors();
    const auto served_after = TimeToServe(Server(), "seat", credentials_);
    EXPECT_EQ(Server().Get("/healthz").first, 200);
    leader_->ExpectSeats();
    EXPECT_LT(PeakMemory(Server()), kMemoryMax);
    std::cout << "serves after " << served_after.count() << " ms; worst renewal "
              << leader_->WorstRenewal().count() << " ms; " << (PeakMemory(Server()) >> 20) << " MB"
              << std::endl;
  }

 private:
  TempDir folder_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::unique_ptr<Tenured> server_;
  std::unique_ptr<HealthyLeaders> leader_;
};

// The same, with TLS: the leader is called "leader" in its certificate.
class HostileTlsTest : public HostileTest {
 protected:
  void StartWithTls(std::vector<std::string> flags, int descriptors = 1'024) {
    const KeyPair own = authority_.Issue("tenured", "IP:127.0.0.1");
    PublishFiles(
        files_.path() / "tls",
        {{"tls.crt", own.certificate}, {"tls.key", own.key}, {"ca.crt", authority_.certificate()}});
    const std::string tls = files_.path() / "tls";
    for (const std::string& flag :
         {std::string("--tls-cert"), tls + "/tls.crt", std::string("--tls-key"), tls + "/tls.key",
          std::string("--tls-client-ca"), tls + "/ca.crt"}) {
      flags.push_back(flag);
    }
    Start(flags, CredentialsOf("leader"), descriptors);
  }
  // With a certificate for this DNS name.
  [[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(
      const std::string& name) const {
    const KeyPair pair = authority_.Issue(name, "DNS:" + name);
    return grpc::SslCredentials({authority_.certificate(), pair.key, pair.certificate});
  }
  [[nodiscard]] std::string WriteFile(const std::string& name, const std::string& content) const {
    const auto path = files_.path() / name;
    std::ofstream(path) << content;
    return path;
  }

 private:
  const CertificateAuthority authority_{"the authority"};
  TempDir files_;
};

class OneAttackTest : public HostileTest, public ::testing::WithParamInterface<Attack> {
 protected:
  void SurviveFor(std::chrono::milliseconds duration) {
    GetParam().make(Server(), duration);
    ExpectUnharmed();
  }
};

inline std::string AttackName(const ::testing::TestParamInfo<Attack>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

}  // namespace tenure::testing
