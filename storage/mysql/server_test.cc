#include "storage/mysql/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

ServerFacts MySqlFacts() {
  return {{{"version", "9.7.4-2"},
           {"server_uuid", "u-1"},
           {"server_id", "1"},
           {"read_only", "OFF"},
           {"innodb_flush_log_at_trx_commit", "1"},
           {"log_bin", "ON"},
           {"sync_binlog", "1"}},
          {}};
}

ServerFacts MariaDbFacts() {
  return {{{"version", "10.11.19-MariaDB-0+deb12u1"},
           {"server_id", "7"},
           {"hostname", "db"},
           {"port", "3306"},
           {"read_only", "OFF"},
           {"innodb_flush_log_at_trx_commit", "1"},
           {"log_bin", "OFF"},
           {"sync_binlog", "0"},
           {"wsrep_on", "OFF"},
           {"wsrep_provider", "none"}},
          {}};
}

ServerFacts GaleraFacts() {
  ServerFacts facts = MariaDbFacts();
  facts.variables["wsrep_on"] = "ON";
  facts.variables["wsrep_provider"] = "/usr/lib/galera/libgalera_smm.so";
  facts.variables["wsrep_node_name"] = "n1";
  facts.status = {{"wsrep_ready", "ON"},       {"wsrep_cluster_status", "Primary"},
                  {"wsrep_cluster_size", "3"}, {"wsrep_local_state_comment", "Synced"},
                  {"wsrep_gcomm_uuid", "g-1"}, {"wsrep_cluster_state_uuid", "c-1"}};
  return facts;
}

ServerFacts GroupFacts() {
  ServerFacts facts = MySqlFacts();
  facts.variables["group_replication_group_name"] = "g";
  facts.variables["group_replication_single_primary_mode"] = "ON";
  facts.variables["group_replication_consistency"] = "BEFORE_ON_PRIMARY_FAILOVER";
  facts.group = {
      {"u-1", "ONLINE", "PRIMARY"}, {"u-2", "ONLINE", "SECONDARY"}, {"u-3", "ONLINE", "SECONDARY"}};
  return facts;
}

ServerFacts SemiSyncFacts() {
  ServerFacts facts = MySqlFacts();
  facts.variables["rpl_semi_sync_source_enabled"] = "ON";
  facts.variables["rpl_semi_sync_source_timeout"] = "4294967295";
  facts.variables["rpl_semi_sync_source_wait_point"] = "AFTER_SYNC";
  facts.variables["rpl_semi_sync_source_wait_no_replica"] = "ON";
  facts.status["rpl_semi_sync_source_status"] = "ON";
  return facts;
}

TEST(ServerTest, OneServerIsKnownByItsIdentity) {
  const Server mysql = Describe(MySqlFacts());
  EXPECT_EQ(mysql.name, "MySQL 9.7.4");
  EXPECT_EQ(mysql.node, "u-1");
  EXPECT_EQ(mysql.history, "u-1");
  EXPECT_FALSE(mysql.lossless);
  EXPECT_EQ(mysql.refusal, "");
  EXPECT_THAT(mysql.warnings, IsEmpty());
  EXPECT_EQ(mysql.engine, Engine::kMySql);
  EXPECT_FALSE(mysql.mariadb);
  EXPECT_FALSE(mysql.many_writers);

  const Server mariadb = Describe(MariaDbFacts());
  EXPECT_EQ(mariadb.engine, Engine::kMariaDb);
  EXPECT_TRUE(mariadb.mariadb);
  EXPECT_EQ(mariadb.name, "MariaDB 10.11.19");
  EXPECT_EQ(mariadb.node, "db:3306 7");
  EXPECT_EQ(mariadb.history, "server_id 7");
  EXPECT_THAT(mariadb.warnings, IsEmpty());
}

TEST(ServerTest, UnsafeServersAreRefused) {
  for (const std::string name : {"version", "version_comment"}) {
    ServerFacts facts = MySqlFacts();
    facts.variables[name] = "8.0.11-TiDB-v7.5.0";
    EXPECT_EQ(Describe(facts).name, "TiDB");
    EXPECT_EQ(Describe(facts).engine, Engine::kTiDb);
    EXPECT_THAT(Describe(facts).refusal, StartsWith("TiDB ignores SKIP LOCKED"));

    facts.variables[name] = "8.0.30-Vitess";
    EXPECT_EQ(Describe(facts).name, "Vitess");
    EXPECT_EQ(Describe(facts).engine, Engine::kVitess);
    EXPECT_THAT(Describe(facts).refusal, StartsWith("Vitess has no stored procedures"));
  }

  ServerFacts facts = MySqlFacts();
  facts.variables["aurora_version"] = "3.05.2";
  facts.variables["innodb_read_only"] = "ON";
  EXPECT_THAT(Describe(facts).refusal, StartsWith("it is a reader of an Aurora cluster"));

  for (const std::string on : {"ON", "1", "YES"}) {
    facts = MySqlFacts();
    facts.variables["read_only"] = on;
    EXPECT_EQ(Describe(facts).refusal, "it is read-only") << on;
  }
}

TEST(ServerTest, AnotherRefusalGoesBeforeReadOnly) {
  ServerFacts facts = GroupFacts();
  facts.group[0].role = "SECONDARY";
  facts.variables["read_only"] = "ON";

  EXPECT_THAT(Describe(facts).refusal, HasSubstr("not a primary"));
}

TEST(ServerTest, TheWriterOfAnAuroraClusterIsUsed) {
  ServerFacts facts = MySqlFacts();
  facts.variables["aurora_version"] = "3.05.2";
  facts.variables["aurora_server_id"] = "writer-1";
  facts.variables["sync_binlog"] = "0";  // its volume does not need it

  const Server server = Describe(facts);

  EXPECT_EQ(server.name, "Aurora MySQL 3.05.2");
  EXPECT_EQ(server.engine, Engine::kAurora);
  EXPECT_EQ(server.history, "aurora");
  EXPECT_EQ(server.node, "writer-1");
  EXPECT_EQ(server.refusal, "");
  EXPECT_TRUE(server.lossless);
  EXPECT_THAT(server.warnings, IsEmpty());

  facts.variables["innodb_flush_log_at_trx_commit"] = "0";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_EQ(Describe(facts).history, "aurora writer-1");
  EXPECT_THAT(Describe(facts).warnings,
              ElementsAre(HasSubstr("innodb_flush_log_at_trx_commit is 0")));
}

TEST(ServerTest, APrivilegeToWriteToAReadOnlyServerIsSeenInAnyGrant) {
  for (const char* grant :
       {"GRANT ALL PRIVILEGES ON *.* TO `a`@`%` WITH GRANT OPTION", "GRANT SUPER ON *.* TO `a`@`%`",
        "GRANT SELECT, READ_ONLY ADMIN ON *.* TO `role`", "GRANT READ_ONLY ADMIN ON *.* TO PUBLIC",
        "GRANT CONNECTION_ADMIN,BACKUP_ADMIN ON *.* TO `a`@`%`"}) {
    EXPECT_TRUE(MayWriteAlways(grant)) << grant;
  }
  for (const char* grant : {"GRANT USAGE ON *.* TO `a`@`%`", "GRANT ALL PRIVILEGES ON `t`.* TO `a`",
                            "GRANT `SUPER` TO `a`@`%`", "SET DEFAULT ROLE `a` FOR `b`@`%`",
                            "GRANT CONNECTION ADMIN ON *.* TO `a`@`%`", ""}) {
    EXPECT_FALSE(MayWriteAlways(grant)) << grant;
  }
}

TEST(ServerTest, ANodeOfGaleraThatReplicatesNothingIsRefused) {
  ServerFacts facts = GaleraFacts();
  facts.variables["wsrep_on"] = "OFF";

  EXPECT_THAT(Describe(facts).refusal, StartsWith("wsrep_on is OFF"));

  facts.status["wsrep_cluster_status"] = "Disconnected";  // a server that has never joined one
  EXPECT_EQ(Describe(facts).refusal, "");
}

TEST(ServerTest, NodesOfAGaleraClusterShareOneHistory) {
  const Server server = Describe(GaleraFacts());
  ServerFacts other = GaleraFacts();
  other.status["wsrep_gcomm_uuid"] = "g-2";

  EXPECT_EQ(server.name, "MariaDB 10.11.19, Galera node n1, Synced, cluster of 3");
  EXPECT_EQ(server.refusal, "");
  EXPECT_TRUE(server.lossless);
  EXPECT_EQ(server.engine, Engine::kGalera);
  EXPECT_TRUE(server.many_writers);
  EXPECT_EQ(server.history, "galera c-1");
  EXPECT_EQ(Describe(other).history, server.history);
  EXPECT_NE(Describe(other).node, server.node);
}

TEST(ServerTest, AMariaDbWithoutGaleraIsNoNode) {
  for (const std::string provider : {"none", ""}) {
    ServerFacts facts = GaleraFacts();
    facts.variables["wsrep_provider"] = provider;
    EXPECT_EQ(Describe(facts).engine, Engine::kMariaDb) << provider;
  }
  ServerFacts facts = GaleraFacts();
  facts.variables["wsrep_on"] = "OFF";
  EXPECT_EQ(Describe(facts).engine, Engine::kMariaDb);
}

TEST(ServerTest, AGaleraNodeThatIsNotInTheClusterIsRefused) {
  ServerFacts facts = GaleraFacts();
  facts.status["wsrep_cluster_status"] = "non-Primary";
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("not in the primary component"));

  facts = GaleraFacts();
  facts.status["wsrep_local_state_comment"] = "Joining: receiving State Transfer";
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("not synchronised"));

  facts = GaleraFacts();
  facts.status["wsrep_local_state_comment"] = "Donor/Desynced";
  EXPECT_EQ(Describe(facts).refusal, "");
  facts.status["wsrep_ready"] = "OFF";
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("not synchronised"));
}

TEST(ServerTest, OnlyThePrimaryOfAGroupWithAMajorityIsUsed) {
  EXPECT_EQ(Describe(GroupFacts()).engine, Engine::kGroupReplication);
  EXPECT_FALSE(Describe(GroupFacts()).many_writers);
  EXPECT_TRUE(Describe(GroupFacts()).lossless);
  EXPECT_EQ(Describe(GroupFacts()).refusal, "");
  EXPECT_THAT(Describe(GroupFacts()).warnings, IsEmpty());
  EXPECT_EQ(Describe(GroupFacts()).history, "group g");
  EXPECT_EQ(Describe(GroupFacts()).name,
            "MySQL 9.7.4, Group Replication, single primary, ONLINE PRIMARY, 3 members, consistency"
            " BEFORE_ON_PRIMARY_FAILOVER");

  ServerFacts facts = GroupFacts();
  facts.group[0].role = "SECONDARY";
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("not a primary"));

  facts = GroupFacts();
  facts.group[1].state = facts.group[2].state = "UNREACHABLE";
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("majority"));

  facts = GroupFacts();
  facts.group = {{"", "OFFLINE", ""}};
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("this member is OFFLINE"));

  facts = GroupFacts();
  facts.group[1].state = "RECOVERING";
  facts.group[2].state = "UNREACHABLE";
  EXPECT_EQ(Describe(facts).refusal, "");
  facts.group.push_back({"u-4", "UNREACHABLE", "SECONDARY"});
  EXPECT_THAT(Describe(facts).refusal, HasSubstr("majority")) << "a half is none";
}

TEST(ServerTest, AGroupOfSeveralPrimariesHasManyWriters) {
  ServerFacts facts = GroupFacts();
  facts.variables["group_replication_single_primary_mode"] = "OFF";

  const Server server = Describe(facts);

  EXPECT_TRUE(server.many_writers);
  EXPECT_EQ(server.history, "group g, multi-primary");
  EXPECT_THAT(server.name, HasSubstr("multi-primary"));
}

TEST(ServerTest, ASemiSynchronousPrimaryThatNeverWritesAloneLosesNothing) {
  EXPECT_EQ(Describe(SemiSyncFacts()).name, "MySQL 9.7.4, semi-synchronous");
  EXPECT_TRUE(Describe(SemiSyncFacts()).lossless);
  EXPECT_THAT(Describe(SemiSyncFacts()).warnings, IsEmpty());

  ServerFacts facts = SemiSyncFacts();
  facts.variables["rpl_semi_sync_source_timeout"] = "10000";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("asynchronous after 10000 ms")));

  facts = SemiSyncFacts();
  facts.status["rpl_semi_sync_source_status"] = "OFF";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).name, HasSubstr("has fallen back"));
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("has fallen back")));

  facts = SemiSyncFacts();
  facts.variables["rpl_semi_sync_source_wait_point"] = "AFTER_COMMIT";
  EXPECT_FALSE(Describe(facts).lossless);

  facts = SemiSyncFacts();
  facts.variables["rpl_semi_sync_source_wait_no_replica"] = "OFF";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings,
              ElementsAre(HasSubstr("set rpl_semi_sync_source_wait_no_replica to ON")));

  facts = SemiSyncFacts();
  facts.writes_always = true;
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("take SUPER")));
}

TEST(ServerTest, ATimeoutOfADayCountsAsUnlimited) {
  ServerFacts facts = SemiSyncFacts();
  facts.variables["rpl_semi_sync_source_timeout"] = "86400000";
  EXPECT_TRUE(Describe(facts).lossless);

  facts.variables["rpl_semi_sync_source_timeout"] = "86399999";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("after 86399999 ms")));
}

TEST(ServerTest, ACommitHasToWaitForAllReplicas) {
  ServerFacts facts = SemiSyncFacts();
  facts.status["rpl_semi_sync_source_clients"] = "3";
  facts.variables["rpl_semi_sync_source_wait_for_replica_count"] = "2";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("waits for 2 of 3 replicas")));

  facts.variables["rpl_semi_sync_source_wait_for_replica_count"] = "3";
  EXPECT_TRUE(Describe(facts).lossless);
}

TEST(ServerTest, MariaDbNamesItsSemiSynchronousReplicationDifferently) {
  ServerFacts facts = MariaDbFacts();
  facts.variables["rpl_semi_sync_master_enabled"] = "ON";
  facts.variables["rpl_semi_sync_master_timeout"] = "4294967295";
  facts.variables["rpl_semi_sync_master_wait_point"] = "AFTER_SYNC";
  facts.variables["rpl_semi_sync_master_wait_no_slave"] = "ON";
  facts.status["rpl_semi_sync_master_status"] = "ON";
  facts.status["rpl_semi_sync_master_clients"] = "1";
  EXPECT_TRUE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings, IsEmpty());

  ServerFacts by_default = facts;
  by_default.variables["rpl_semi_sync_master_wait_point"] = "AFTER_COMMIT";
  by_default.variables["rpl_semi_sync_master_timeout"] = "10000";
  EXPECT_FALSE(Describe(by_default).lossless);
  EXPECT_THAT(Describe(by_default).warnings,
              ElementsAre(HasSubstr("set rpl_semi_sync_master_timeout"),
                          HasSubstr("rpl_semi_sync_master_wait_point is not AFTER_SYNC")));

  ServerFacts alone = facts;
  alone.variables["rpl_semi_sync_master_wait_no_slave"] = "OFF";
  EXPECT_FALSE(Describe(alone).lossless);
  EXPECT_THAT(Describe(alone).warnings,
              ElementsAre(HasSubstr("set rpl_semi_sync_master_wait_no_slave to ON")));

  // No variable lets MariaDB wait for more than one.
  facts.status["rpl_semi_sync_master_clients"] = "2";
  EXPECT_FALSE(Describe(facts).lossless);
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("waits for 1 of 2 replicas")));
}

TEST(ServerTest, SettingsThatMayLoseCommitsAreWarnedAbout) {
  ServerFacts facts = MySqlFacts();
  facts.variables["innodb_flush_log_at_trx_commit"] = "2";
  facts.variables["sync_binlog"] = "0";

  EXPECT_THAT(
      Describe(facts).warnings,
      ElementsAre(HasSubstr("innodb_flush_log_at_trx_commit is 2"), HasSubstr("sync_binlog is 0")));

  facts = GroupFacts();
  facts.variables["group_replication_consistency"] = "EVENTUAL";
  EXPECT_THAT(Describe(facts).warnings, ElementsAre(HasSubstr("EVENTUAL")));
}

TEST(ServerTest, ARefusedServerHasNoWarnings) {
  ServerFacts facts = MySqlFacts();
  facts.variables["read_only"] = "ON";
  facts.variables["sync_binlog"] = "0";

  EXPECT_THAT(Describe(facts).warnings, IsEmpty());
}

TEST(ServerTest, AServersOwnNamesAreEscaped) {
  ServerFacts facts = GaleraFacts();
  facts.variables["version"] = "10.11\x1b[2J-MariaDB";
  facts.variables["wsrep_node_name"] = "a\u202eb";

  EXPECT_THAT(Describe(facts).name,
              StartsWith(R"(MariaDB 10.11\x1b[2J, Galera node a\xe2\x80\xaeb)"));
}

}  // namespace
}  // namespace tenure::mysql
