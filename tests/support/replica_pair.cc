#include "tests/support/replica_pair.h"

#include <gtest/gtest.h>

namespace tenure::testing {
namespace {

std::vector<std::string> FlagsOf(int number, ReplicaPair::Kind kind) {
  std::vector<std::string> flags = {"--server-id=" + std::to_string(number), "--log-bin=b",
                                    "--gtid-mode=ON", "--enforce-gtid-consistency=ON"};
  if (number == 2) flags.emplace_back("--read-only=ON");
  if (kind == ReplicaPair::Kind::kAsynchronous) return flags;
  flags.emplace_back("--plugin-load-add=semisync_source.so;semisync_replica.so");
  flags.emplace_back("--loose-rpl-semi-sync-source-timeout=4294967295");
  flags.emplace_back("--loose-rpl-semi-sync-replica-enabled=ON");
  return flags;
}

}  // namespace

ReplicaPair::ReplicaPair(Kind kind)
    : kind_(kind),
      source_(std::make_unique<DatabaseServer>(DatabaseServer::Engine::kMySql)),
      replica_(std::make_unique<DatabaseServer>(DatabaseServer::Engine::kMySql)) {
  source_->StartWith(FlagsOf(1, kind));
  replica_->StartWith(FlagsOf(2, kind));
  source_->Ask(
      "CREATE USER replication@'127.0.0.1' IDENTIFIED BY 'r';"
      " GRANT REPLICATION SLAVE ON *.* TO replication@'127.0.0.1'");
  replica_->Ask("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = " +
                std::to_string(source_->port()) +
                ", SOURCE_USER = 'replication', SOURCE_PASSWORD = 'r', SOURCE_AUTO_POSITION = 1,"
                " GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1; START REPLICA");
  if (kind == Kind::kSemiSynchronous) {
    source_->Ask("SET GLOBAL rpl_semi_sync_source_enabled = ON");
    EXPECT_TRUE(Eventually([&] {
      return source_->Ask(
                 "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE"
                 " VARIABLE_NAME = 'Rpl_semi_sync_source_clients'") == "1";
    }));
  }
}

std::string ReplicaPair::Url(const std::string& database) const {
  return "mysql://root@" + source_->address() + "," + replica_->address() + "/" + database;
}

void ReplicaPair::Disconnect() { replica_->Ask("STOP REPLICA IO_THREAD"); }

void ReplicaPair::Promote() {
  // What it has received is applied first.
  EXPECT_TRUE(Eventually([&] {
    return replica_->Ask(
               "SELECT COUNT(*) FROM performance_schema.replication_applier_status_by_worker"
               " WHERE APPLYING_TRANSACTION != ''") == "0";
  }));
  replica_->Ask("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL read_only = OFF");
}

void ReplicaPair::SwitchOver() {
  source_->Ask("SET GLOBAL super_read_only = ON");
  const std::string gtids = source_->Ask("SELECT REPLACE(@@global.gtid_executed, '\\n', '')");
  EXPECT_EQ(replica_->Ask("SELECT WAIT_FOR_EXECUTED_GTID_SET('" + gtids + "', 30)"), "0");
  Promote();
}

}  // namespace tenure::testing
