// The configuration of `tenured`, from flags and the environment. Every flag has a variable:
// `--http-listen` is TENURE_HTTP_LISTEN.
#pragma once

#include <chrono>
#include <string>

#include "core/limits.h"
#include "core/types.h"
#include "server/access/tls.h"
#include "server/engine/engine.h"
#include "server/log/log.h"
#include "server/network/connections.h"
#include "server/rpc/shared_settings.h"
#include "storage/open_store.h"

namespace tenure::process {

struct ServerConfig {
  bool migrate_only = false;    // `tenured migrate`
  bool bump_terms = false;      // `tenured bump-terms`
  Author author;                // of bump_terms, for the record
  bool healthcheck = false;     // `tenured healthcheck`
  bool check = false;           // `tenured check`
  bool migrate = true;          // at start
  bool share_database = false;  // even if another application has tables there
  std::string listen = "127.0.0.1:7070";
  std::string http_listen = "127.0.0.1:7071";
  network::ConnectionLimits connections{10'000, 5'000};
  size_t grpc_threads = 1;
  std::string advertise;  // where other replicas reach `listen`
  access::TlsFiles tls;
  std::string policy;      // a path; empty: every client may do everything
  std::string service_id;  // the only one to serve; empty: any
  std::string store_url = "sqlite:tenure.db";
  StoreLocation store;
  Limits limits;
  Retention retention = engine::EngineOptions().retention;
  std::chrono::milliseconds feed_interval = engine::EngineOptions().feed_interval;
  std::chrono::milliseconds drain_timeout{10'000};
  engine::OnLostCommits on_lost_commits = engine::OnLostCommits::kRecover;
  MetricsOptions metrics;
  LogOptions log;
};

// Reads the command line, the environment and the password file. Returns the exit code if there is
// nothing to run: after `--help`, `--version`, or an error, which is one line on standard error.
[[nodiscard]] tl::expected<ServerConfig, int> ParseServerConfig(int argc, const char* const* argv);

// The settings that apply to the database, which the replicas share.
[[nodiscard]] rpc::SharedSettings SharedSettingsOf(const ServerConfig& config);

}  // namespace tenure::process
