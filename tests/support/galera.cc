#include "tests/support/galera.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenure::testing {
namespace {

constexpr size_t kNodes = 3;
constexpr char kProvider[] = "/usr/lib/galera/libgalera_smm.so";

}  // namespace

Galera::Galera(const std::vector<Host>& hosts) {
  for (size_t i = 0; i < kNodes; ++i) {
    std::ranges::generate(ports_.at(i), FreePort);
    nodes_.push_back(
        std::make_unique<DatabaseServer>(DatabaseServer::Engine::kMariaDb, hosts.at(i)));
    server(i).SetClock(std::chrono::minutes(i));
  }
  for (size_t i = 0; i < kNodes; ++i) {
    std::vector<std::string> flags = FlagsOf(i);
    if (i == 0) flags.emplace_back("--wsrep-new-cluster");
    server(i).StartWith(flags);
    WaitUntilSynchronised(i);
  }
}

std::vector<std::string> Galera::FlagsOf(size_t number) const {
  std::string members;
  for (size_t i = 0; i < kNodes; ++i) members += (i > 0 ? "," : "") + Address(i, 0);
  return {"--binlog-format=ROW",
          "--innodb-autoinc-lock-mode=2",
          "--wsrep-on=ON",
          std::string("--wsrep-provider=") + kProvider,
          "--wsrep-cluster-address=gcomm://" + members,
          "--wsrep-node-name=n" + std::to_string(number + 1),
          "--wsrep-node-address=" + nodes_.at(number)->host().address,
          "--wsrep-sst-method=mariabackup",
          "--wsrep-sst-auth=root:",
          "--wsrep-sst-receive-address=" + Address(number, 2),
          "--wsrep-provider-options=base_port=" + std::to_string(ports_.at(number).at(0)) +
              ";gmcast.listen_addr=tcp://" + Address(number, 0) +
              ";ist.recv_addr=" + Address(number, 1) + ";gcache.size=128M"};
}

std::string Galera::Address(size_t number, size_t kind) const {
  return nodes_.at(number)->host().address + ":" + std::to_string(ports_.at(number).at(kind));
}

std::string Galera::Url(const std::string& database, size_t first) const {
  std::string addresses;
  for (size_t i = 0; i < kNodes; ++i) {
    addresses += (i > 0 ? "," : "") + nodes_.at((first + i) % kNodes)->address();
  }
  return "mysql://root@" + addresses + "/" + database;
}

void Galera::Rejoin(size_t number) {
  server(number).StartWith(FlagsOf(number));
  WaitUntilSynchronised(number);
}

void Galera::WaitUntilSynchronised(size_t number) {
  WaitForStatus(number, "wsrep_local_state_comment", "Synced");
}

void Galera::WaitUntilWhole() {
  for (size_t i = 0; i < kNodes; ++i) {
    WaitForStatus(i, "wsrep_cluster_size", std::to_string(kNodes));
    WaitUntilSynchronised(i);
  }
}

void Galera::WaitForStatus(size_t number, const std::string& name, const std::string& value) {
  EXPECT_TRUE(Eventually(
      [&] {
        const Finished answer = server(number).Query("SHOW STATUS WHERE Variable_name = '" + name +
                                                     "' AND Value = '" + value + "'");
        return answer.exit_code == 0 && !answer.output.empty();
      },
      3 * kPatience))
      << server(number).process().Errors();
}

void Galera::MakeLag(size_t number) {
  DatabaseServer& busy = server((number + 1) % kNodes);
  busy.Ask(
      "CREATE DATABASE IF NOT EXISTS lag; CREATE TABLE IF NOT EXISTS lag.rows_ (id INT PRIMARY KEY,"
      " n INT) ENGINE = InnoDB; INSERT IGNORE INTO lag.rows_ SELECT seq, 0 FROM "
      "lag.seq_1_to_150000");
  busy.Ask("UPDATE lag.rows_ SET n = n + 1");
}

}  // namespace tenure::testing
