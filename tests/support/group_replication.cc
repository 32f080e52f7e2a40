#include "tests/support/group_replication.h"

#include <gtest/gtest.h>

namespace tenure::testing {
namespace {

constexpr size_t kMembers = 3;
constexpr char kGroup[] = "6d0f7b3e-52a1-4c8b-9a52-7e1f4f0d9c11";
// Without a line in the binary log: each member does it for itself.
constexpr char kMakeReplicationUser[] =
    "SET SQL_LOG_BIN = 0; CREATE USER replication@'%' IDENTIFIED BY 'r';"
    " GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO"
    " replication@'%'; SET SQL_LOG_BIN = 1;"
    " CHANGE REPLICATION SOURCE TO SOURCE_USER = 'replication', SOURCE_PASSWORD = 'r'"
    " FOR CHANNEL 'group_replication_recovery'";
constexpr char kPrimaryHere[] =
    "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_ID ="
    " @@server_uuid AND MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'PRIMARY'"
    " AND @@global.super_read_only = 0 AND (SELECT COUNT(*) * 2 FROM"
    " performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE') > 2";

}  // namespace

GroupReplication::GroupReplication(const std::vector<Host>& hosts, Mode mode)
    : mode_(mode), group_ports_{FreePort(), FreePort(), FreePort()} {
  for (size_t i = 0; i < kMembers; ++i) {
    members_.push_back(
        std::make_unique<DatabaseServer>(DatabaseServer::Engine::kMySql, hosts.at(i)));
  }
  for (size_t i = 0; i < kMembers; ++i) {
    server(i).StartWith(FlagsOf(i));
    server(i).Ask(kMakeReplicationUser);
  }
  server(0).Ask(
      "RESET BINARY LOGS AND GTIDS; SET GLOBAL group_replication_bootstrap_group = ON;"
      " START GROUP_REPLICATION; SET GLOBAL group_replication_bootstrap_group = OFF");
  for (size_t i = 1; i < kMembers; ++i) {
    server(i).Ask("RESET BINARY LOGS AND GTIDS");
    Join(i);
  }
  EXPECT_EQ(WaitForPrimary(), 0U);
}

std::vector<std::string> GroupReplication::FlagsOf(size_t number) const {
  const auto address = [&](size_t i) {
    return members_[i]->host().address + ":" + std::to_string(group_ports_.at(i));
  };
  std::string seeds;
  for (size_t i = 0; i < kMembers; ++i) seeds += (i > 0 ? "," : "") + address(i);
  const std::string several = mode_ == Mode::kMultiPrimary ? "ON" : "OFF";
  const std::string single = mode_ == Mode::kMultiPrimary ? "OFF" : "ON";
  return {"--server-id=" + std::to_string(number + 1),
          "--loose-group-replication-single-primary-mode=" + single,
          "--loose-group-replication-enforce-update-everywhere-checks=" + several,
          "--log-bin=b",
          "--gtid-mode=ON",
          "--enforce-gtid-consistency=ON",
          "--report-host=" + members_[number]->host().address,
          "--report-port=" + std::to_string(members_[number]->port()),
          "--plugin-load-add=group_replication.so",
          "--loose-group-replication-start-on-boot=OFF",
          std::string("--loose-group-replication-group-name=") + kGroup,
          "--loose-group-replication-local-address=" + address(number),
          "--loose-group-replication-group-seeds=" + seeds,
          "--loose-group-replication-recovery-get-public-key=ON",
          "--loose-group-replication-ip-allowlist=127.0.0.0/8,10.0.0.0/8"};
}

std::string GroupReplication::Url(const std::string& database, size_t first) const {
  std::string addresses;
  for (size_t i = 0; i < kMembers; ++i) {
    addresses += (i > 0 ? "," : "") + members_[(first + i) % kMembers]->address();
  }
  return "mysql://root@" + addresses + "/" + database;
}

size_t GroupReplication::WaitForPrimary(std::optional<size_t> no_more) {
  size_t primary = kMembers;
  const bool found = Eventually(
      [&] {
        for (primary = 0; primary < kMembers; ++primary) {
          if (primary == no_more) continue;
          const Finished answer = server(primary).Query(kPrimaryHere);
          if (answer.exit_code == 0 && answer.output == "1\n") return true;
        }
        return false;
      },
      2 * kPatience);
  EXPECT_TRUE(found);
  return primary;
}

void GroupReplication::StartAlone(size_t number) { server(number).Start(); }

void GroupReplication::Join(size_t number) {
  // It is refused, or waits for up to a minute, while the group still knows the killed member.
  Finished started;
  EXPECT_TRUE(Eventually(
      [&] {
        started = server(number).Query("START GROUP_REPLICATION", 4 * kPatience);
        return started.exit_code == 0;
      },
      4 * kPatience))
      << started.errors;
  // It catches up first.
  EXPECT_TRUE(Eventually(
      [&] {
        return server(number).Ask(
                   "SELECT MEMBER_STATE FROM performance_schema.replication_group_members"
                   " WHERE MEMBER_ID = @@server_uuid") == "ONLINE";
      },
      4 * kPatience));
}

void GroupReplication::Appoint(size_t number) {
  server(number).Ask("SELECT group_replication_set_as_primary(@@server_uuid)");
}

}  // namespace tenure::testing
