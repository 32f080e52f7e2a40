// The subcommands of `tenure`. Each runs to its end and answers with the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/types.h"

namespace tenure {

// What every subcommand is told.
struct CommonOptions {
  std::string endpoints = "127.0.0.1:7070";
  bool json = false;
};

// Exit codes; 0 is success.
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotElected = 3;
inline constexpr int kExitLost = 4;

struct CampaignOptions {
  std::string election;
  std::string candidate;
  std::string value;
  std::optional<Duration> lease_ttl;
  std::optional<Duration> wait;  // nothing: for ever; zero: try once
  int32_t priority = 0;
};
int RunCampaign(const CommonOptions& common, const CampaignOptions& options);

int RunLeader(const CommonOptions& common, const std::string& election);

struct ObserveCommandOptions {
  std::vector<std::string> elections;  // or prefixes
  bool prefix = false;
  std::optional<uint64_t> from_revision;
  std::optional<uint64_t> count;  // lines
};
int RunObserve(const CommonOptions& common, const ObserveCommandOptions& options);

}  // namespace tenure
