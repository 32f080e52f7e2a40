// The servers that are compared, started for one run on loopback, with their data in folders of
// their own under TMPDIR. Each is what its package ships, except for addresses and folders; its
// configuration names any other difference from its defaults.
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
  // Its version, and how it is configured, in a line for people.
  [[nodiscard]] virtual std::string configuration() = 0;
  // The processor time that each of its programs has used.
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

// MySQL, from the root directory that scripts/install-mysql.sh makes, with its data in there.
// Throws std::runtime_error if it cannot be started: that takes root.
[[nodiscard]] std::unique_ptr<testing::DatabaseServer> StartMySql(const std::string& root);

// One replica of tenured. Others may share the database.
class TenureServer : public Server {
 public:
  TenureServer(testing::DatabaseServer& database, const std::string& store_url);

  [[nodiscard]] std::string endpoint() const override;
  [[nodiscard]] std::string configuration() override;
  [[nodiscard]] CpuTimes CpuTime() override;
  // What it states of itself for Prometheus: the sum of one metric over its labels.
  [[nodiscard]] double Metric(const std::string& name) const;
  // The memory that the process holds now.
  [[nodiscard]] double ResidentBytes();

 private:
  testing::DatabaseServer& database_;
  testing::Tenured replica_;
};

// What servers are started from.
struct ServerSource {
  std::string etcd;                          // its program
  testing::DatabaseServer& database;         // for Tenure
  testing::DatabaseServer* mysql = nullptr;  // for Tenure on MySQL, if there is one
};

// Starts a server without data. `name` is that of its database, whose contents are dropped. Throws
// std::runtime_error if the source lacks what it needs.
[[nodiscard]] std::unique_ptr<Server> StartServer(Column system, const ServerSource& source,
                                                  const std::string& name);

}  // namespace tenure::bench
