#include "tests/support/replica_pair.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace tenure::testing {

// The differences between the two engines.
struct ReplicationDialect {
  std::array<const char*, 2> flags;
  std::array<const char*, 4> semi_sync_flags;
  const char* semi_sync_enabled;  // the variable that makes a source wait
  const char* follow;             // all but the port, which comes last
  const char* position;           // of the last commit
  const char* wait_for_position;  // a function of the position and of seconds; 0 is success
  bool (*has_applied_all)(const DatabaseServer& replica);  // that it has received
};

namespace {

constexpr ReplicationDialect kMariaDb = {
    // The replica has to log what it applies, to be a source with all of the history.
    .flags = {"--gtid-strict-mode=ON", "--log-slave-updates"},
    .semi_sync_flags = {"--rpl-semi-sync-master-wait-point=AFTER_SYNC",
                        "--rpl-semi-sync-master-wait-no-slave=ON",
                        "--rpl-semi-sync-master-timeout=4294967295",
                        "--rpl-semi-sync-slave-enabled=ON"},
    .semi_sync_enabled = "rpl_semi_sync_master_enabled",
    // A source that becomes a replica goes on after what it has written itself.
    .follow =
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USER = 'replication',"
        " MASTER_PASSWORD = 'r', MASTER_USE_GTID = slave_pos, MASTER_DEMOTE_TO_SLAVE = 1,"
        " MASTER_CONNECT_RETRY = 1, MASTER_PORT = ",
    .position = "SELECT @@global.gtid_binlog_pos",
    .wait_for_position = "MASTER_GTID_WAIT",
    .has_applied_all =
        [](const DatabaseServer& replica) {
          // Gtid_IO_Pos, which no variable and no table has, follows the value of Using_Gtid.
          const std::string applied = replica.Ask("SELECT @@global.gtid_slave_pos");
          const std::string status = replica.Ask("SHOW REPLICA STATUS");
          return status.find("\tSlave_Pos\t" + applied + "\t") != std::string::npos;
        },
};

constexpr ReplicationDialect kMySql = {
    .flags = {"--gtid-mode=ON", "--enforce-gtid-consistency=ON"},
    .semi_sync_flags = {"--plugin-load-add=semisync_source.so;semisync_replica.so",
                        "--loose-rpl-semi-sync-source-wait-point=AFTER_SYNC",
                        "--loose-rpl-semi-sync-source-timeout=4294967295",
                        "--loose-rpl-semi-sync-replica-enabled=ON"},
    .semi_sync_enabled = "rpl_semi_sync_source_enabled",
    .follow =
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_USER = 'replication',"
        " SOURCE_PASSWORD = 'r', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1,"
        " SOURCE_CONNECT_RETRY = 1, SOURCE_PORT = ",
    .position = "SELECT REPLACE(@@global.gtid_executed, '\\n', '')",
    .wait_for_position = "WAIT_FOR_EXECUTED_GTID_SET",
    .has_applied_all =
        [](const DatabaseServer& replica) {
          return replica.Ask(
                     "SELECT GTID_SUBSET(RECEIVED_TRANSACTION_SET, @@global.gtid_executed)"
                     " FROM performance_schema.replication_connection_status") == "1";
        },
};

const ReplicationDialect& DialectOf(DatabaseServer::Engine engine) {
  return engine == DatabaseServer::Engine::kMariaDb ? kMariaDb : kMySql;
}

std::vector<std::string> FlagsOf(int server_id, ReplicaPair::Kind kind,
                                 const ReplicationDialect& dialect) {
  std::vector<std::string> flags = {"--server-id=" + std::to_string(server_id), "--log-bin=b"};
  flags.insert(flags.end(), dialect.flags.begin(), dialect.flags.end());
  if (kind == ReplicaPair::Kind::kSemiSynchronous) {
    flags.insert(flags.end(), dialect.semi_sync_flags.begin(), dialect.semi_sync_flags.end());
  }
  return flags;
}

}  // namespace

ReplicaPair::ReplicaPair(Kind kind, DatabaseServer::Engine engine)
    : kind_(kind),
      dialect_(DialectOf(engine)),
      source_(std::make_unique<DatabaseServer>(engine)),
      replica_(std::make_unique<DatabaseServer>(engine)) {
  source_->StartWith(FlagsOf(1, kind, dialect_));
  std::vector<std::string> flags = FlagsOf(2, kind, dialect_);
  flags.emplace_back("--read-only=ON");
  replica_->StartWith(flags);
  source_->Ask(
      "CREATE USER replication@'127.0.0.1' IDENTIFIED BY 'r';"
      " GRANT REPLICATION SLAVE ON *.* TO replication@'127.0.0.1';"
      " CREATE DATABASE tenure; CREATE USER tenure@'127.0.0.1';"
      " GRANT ALL ON tenure.* TO tenure@'127.0.0.1'");
  Follow();
}

std::string ReplicaPair::Url() const {
  return "mysql://tenure@" + source_->address() + "," + replica_->address() + "/tenure";
}

void ReplicaPair::Follow() {
  // Before the replica asks for it: MariaDB's is asynchronous for good if its source is.
  SetSemiSync(*source_, true);
  replica_->Ask(dialect_.follow + std::to_string(source_->port()) + "; START REPLICA");
  if (kind_ == Kind::kAsynchronous) return;
  EXPECT_TRUE(Eventually([&] {
    return source_->Ask("SHOW GLOBAL STATUS LIKE 'rpl_semi_sync_%_clients'").ends_with("\t1");
  }));
}

void ReplicaPair::SetSemiSync(const DatabaseServer& server, bool enabled) const {
  if (kind_ == Kind::kAsynchronous) return;
  server.Ask(std::string("SET GLOBAL ") + dialect_.semi_sync_enabled +
             (enabled ? " = ON" : " = OFF"));
}

void ReplicaPair::Disconnect() { replica_->Ask("STOP REPLICA IO_THREAD"); }

void ReplicaPair::Promote() {
  // What it has received is applied first.
  Disconnect();
  EXPECT_TRUE(Eventually([&] { return dialect_.has_applied_all(*replica_); }));
  replica_->Ask("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL read_only = OFF");
}

void ReplicaPair::SwitchOver() {
  source_->Ask("SET GLOBAL read_only = ON");
  const std::string position = source_->Ask(dialect_.position);
  EXPECT_EQ(replica_->Ask(std::string("SELECT ") + dialect_.wait_for_position + "('" + position +
                          "', 30)"),
            "0");
  replica_->Ask("STOP REPLICA; RESET REPLICA ALL");
  // What it applies as a replica does not wait for another server.
  SetSemiSync(*source_, false);
  std::swap(source_, replica_);
  // The new source takes no write before it has a replica.
  Follow();
  source_->Ask("SET GLOBAL read_only = OFF");
}

}  // namespace tenure::testing
