// The commands of `tenure` for candidates and observers. Each runs to its end and returns the exit
// code.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/types.h"
#include "tenure/credentials.h"

namespace tenure {

// How long --try waits for a first answer.
inline constexpr std::chrono::seconds kTryPatience{10};

// Options of every command.
struct CommonOptions {
  std::string endpoints = "127.0.0.1:7070";
  bool json = false;
  bool tls = false;
  TlsOptions tls_files;
  std::string service_id;  // empty: not pinned

  // Null: without TLS. Starts threads, so signals must be blocked before. Throws
  // std::invalid_argument if a file cannot be used.
  [[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> Credentials() const {
    return tls ? TlsCredentials(tls_files) : nullptr;
  }
};

struct CampaignOptions {
  std::vector<std::string> elections;  // all or none of them
  std::string candidate;
  std::string value;
  std::optional<Duration> lease_ttl;
  std::optional<Duration> wait;  // nothing: no limit; zero: try once
  int32_t priority = 0;
  bool supersede = false;
};
int RunCampaign(const CommonOptions& common, const CampaignOptions& options);

struct RunOptions {
  std::string election;
  std::string candidate;
  std::string value;
  std::optional<Duration> lease_ttl;
  std::optional<Duration> wait;  // nothing: no limit; zero: try once
  int32_t priority = 0;
  bool supersede = false;
  std::optional<Duration> grace;  // nothing: a quarter of the lease
  bool restart = false;
  std::string on_elected;  // shell commands; empty: none
  std::string on_lost;
  std::vector<std::string> command;
};
int RunRun(const CommonOptions& common, const RunOptions& options);

int RunLeader(const CommonOptions& common, const std::string& election);

struct ObserveCommandOptions {
  std::vector<std::string> elections;  // or prefixes
  bool prefix = false;
  std::optional<uint64_t> from_revision;
  std::optional<uint64_t> count;  // lines
};
int RunObserve(const CommonOptions& common, const ObserveCommandOptions& options);

}  // namespace tenure
