// The subcommands of `tenure` for operators. Each runs to its end and answers with the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/tool/commands.h"
#include "core/types.h"

namespace tenure {

struct StatusOptions {};
int RunStatus(const CommonOptions& common, const StatusOptions& options);

// How much of a list is shown. 0: all of it.
struct ListOptions {
  std::string prefix;
  uint64_t limit = 0;
};
int RunList(const CommonOptions& common, const ListOptions& options);
int RunSessions(const CommonOptions& common, const ListOptions& options);

struct TopOptions {
  std::string prefix;
};
int RunTop(const CommonOptions& common, const TopOptions& options);

struct DescribeOptions {
  std::string election;
  uint64_t limit = 20;  // of its queue
};
int RunDescribe(const CommonOptions& common, const DescribeOptions& options);

struct HistoryOptions {
  std::string election;  // empty: operators' changes in all elections
  uint64_t limit = 20;   // of terms, and of changes
};
int RunHistory(const CommonOptions& common, const HistoryOptions& options);

// Options of every change.
struct ChangeOptions {
  std::string election;
  std::string reason;
  std::optional<uint64_t> term;  // nothing: the term when the command starts
};

struct AppointOptions {
  ChangeOptions change;
  std::string candidate;
  bool force = false;
  std::optional<Duration> reserve_for;
};
int RunAppoint(const CommonOptions& common, const AppointOptions& options);

struct DeposeOptions {
  ChangeOptions change;
  std::optional<Duration> cool_down;
};
int RunDepose(const CommonOptions& common, const DeposeOptions& options);

int RunPause(const CommonOptions& common, const ChangeOptions& options);
int RunResume(const CommonOptions& common, const ChangeOptions& options);
int RunDelete(const CommonOptions& common, const ChangeOptions& options);

struct ConfigureOptions {
  ChangeOptions change;
  std::optional<Duration> lock_delay;
  std::optional<Duration> min_hold;
  std::optional<Duration> default_ttl;
  std::optional<Duration> max_ttl;
  std::optional<uint64_t> max_candidates;
};
int RunConfigure(const CommonOptions& common, const ConfigureOptions& options);

struct PurgeOptions {
  std::string prefix;
  std::optional<Duration> unused_for;  // required
  bool dry_run = false;
  std::string reason;
};
int RunPurge(const CommonOptions& common, const PurgeOptions& options);

struct EndSessionOptions {
  std::string handle;
  std::string reason;
};
int RunEndSession(const CommonOptions& common, const EndSessionOptions& options);

}  // namespace tenure
