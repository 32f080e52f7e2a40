// The servers that are compared, started for one run on loopback, with their data in their own
// folders under TMPDIR. Each is as its package ships it, except for addresses and folders; its
// configuration names any other difference from the defaults.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "bench/report/results.h"
#include "tests/support/database_server.h"
#include "tests/support/process.h"
#include "tests/support/tenured.h"

namespace tenure::bench {

using CpuTimes = std::map<std::string, std::chrono::microseconds>;
inline constexpr char kDatabaseProgram[] = "database";  // of Tenure, in CpuTimes

class Server {
 public:
  virtual ~Server() = default;  // stops it, and removes its data

  [[nodiscard]] virtual std::string endpoint() const = 0;
  // Its version and configuration, in a line for people.
  [[nodiscard]] virtual std::string configuration() = 0;
  // The processor time used by each of its programs.
  [[nodiscard]] virtual CpuTimes CpuTime() = 0;
};

class EtcdServer : public Server {
 public:
  explicit EtcdServer(const std::string& program);

  [[nodiscard]] std::string endpoint() const override;
  [[nodiscard]] std::string configuration() override;
  [[nodiscard]] CpuTimes CpuTime() override;

 private:
  const std::string program_;
  const int port_;
  testing::TempDir folder_;
  testing::Process process_;
};

class ZooKeeperServer : public Server {
 public:
  ZooKeeperServer();

  [[nodiscard]] std::string endpoint() const override;
  [[nodiscard]] std::string configuration() override;
  [[nodiscard]] CpuTimes CpuTime() override;

 private:
  const int port_;
  testing::TempDir folder_;
  testing::Process process_;
};

// MySQL, from the root directory made by scripts/install-mysql.sh, with its data in there. Throws
// std::runtime_error if it cannot be started, which requires root.
[[nodiscard]] std::unique_ptr<testing::DatabaseServer> StartMySql(const std::string& root);

// One replica of tenured. Other replicas may share the database.
class TenureServer : public Server {
 public:
  TenureServer(testing::DatabaseServer& database, const std::string& store_url);

  [[nodiscard]] std::string endpoint() const override;
  [[nodiscard]] std::string configuration() override;
  [[nodiscard]] CpuTimes CpuTime() override;
  // The sum of one of its metrics over the labels.
  [[nodiscard]] double Metric(const std::string& name) const;
  // The current memory of the process.
  [[nodiscard]] double ResidentBytes();

 private:
  testing::DatabaseServer& database_;
  testing::Tenured replica_;
};

// The programs and databases that servers are started from.
struct ServerSource {
  std::string etcd;                          // path of the program
  testing::DatabaseServer& database;         // for Tenure
  testing::DatabaseServer* mysql = nullptr;  // for Tenure on MySQL, if there is one
};

// Starts a server without data. `name` is the name of its database, whose contents are dropped.
// Throws std::runtime_error if something it needs is missing.
[[nodiscard]] std::unique_ptr<Server> StartServer(Column system, const ServerSource& source,
                                                  const std::string& name);

}  // namespace tenure::bench
