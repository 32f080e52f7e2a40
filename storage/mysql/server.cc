#include "storage/mysql/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/text.h"

namespace tenure::mysql {
namespace {

// A semi-synchronous primary that waits this long for its replica counts as never acknowledging
// alone: by then nobody waits for it any more.
constexpr uint64_t kNeverMs = 24ULL * 60 * 60 * 1000;

// Printable, since much of it is shown to people.
std::string Find(const std::map<std::string, std::string>& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? "" : Printable(found->second);
}

bool IsOn(const std::string& value) { return value == "ON" || value == "1" || value == "YES"; }

uint64_t Number(const std::string& text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether semi-synchronous replication has the names that newer versions of MySQL use.
bool HasNewNames(const ServerFacts& facts) {
  return facts.variables.contains("rpl_semi_sync_source_enabled");
}

std::string SemiSyncPrefix(const ServerFacts& facts) {
  return HasNewNames(facts) ? "rpl_semi_sync_source_" : "rpl_semi_sync_master_";
}

class Describer {
 public:
  explicit Describer(const ServerFacts& facts) : facts_(facts) {}

  Server Describe() {
    const std::string version = Variable("version");
    const std::string comment = Variable("version_comment");
    const bool mariadb = Contains(version, "MariaDB");
    server_.mariadb = mariadb;
    server_.engine = mariadb ? Engine::kMariaDb : Engine::kMySql;
    const std::string number = version.substr(0, version.find('-'));
    server_.name = (mariadb ? "MariaDB " : "MySQL ") + number;
    const std::string uuid = Variable("server_uuid");
    // MariaDB's replicas have different server ids, or they would not replicate.
    server_.history = uuid.empty() ? "server_id " + Variable("server_id") : uuid;
    server_.node = uuid.empty() ? fmt::format("{}:{} {}", Variable("hostname"), Variable("port"),
                                              Variable("server_id"))
                                : uuid;

    if (Contains(version, "TiDB") || Contains(comment, "TiDB")) {
      DescribeTiDb();
    } else if (Contains(version, "Vitess") || Contains(comment, "Vitess")) {
      DescribeVitess();
    } else if (facts_.variables.contains("aurora_version")) {
      DescribeAurora();
    } else if (HasGaleraProvider() && IsOn(Variable("wsrep_on"))) {
      DescribeGalera();
    } else if (HasGaleraProvider() && Status("wsrep_cluster_status") == "Primary") {
      server_.refusal =
          "wsrep_on is OFF on this node of a Galera cluster: what it commits reaches "
          "no other node; set it to ON";
    } else if (InGroupReplication(facts_)) {
      DescribeGroup();
    } else {
      DescribeSemiSync();
    }
    if (server_.refusal.empty() && IsOn(Variable("read_only"))) server_.refusal = "it is read-only";
    server_.has_binlog = IsOn(Variable("log_bin")) || server_.engine == Engine::kGalera;
    WarnOfLostWrites();
    return std::move(server_);
  }

 private:
  [[nodiscard]] std::string Variable(const std::string& name) const {
    return Find(facts_.variables, name);
  }
  [[nodiscard]] std::string Status(const std::string& name) const {
    return Find(facts_.status, name);
  }

  [[nodiscard]] bool HasGaleraProvider() const {
    return !Variable("wsrep_provider").empty() && Variable("wsrep_provider") != "none";
  }

  void DescribeTiDb() {
    server_.engine = Engine::kTiDb;
    server_.name = "TiDB";
    server_.refusal = "TiDB ignores SKIP LOCKED, and so does not lock what Tenure relies on";
  }

  void DescribeVitess() {
    server_.engine = Engine::kVitess;
    server_.name = "Vitess";
    server_.refusal =
        "Vitess has no stored procedures that a transaction can call, and may move rows"
        " between servers";
  }

  void DescribeAurora() {
    server_.engine = Engine::kAurora;
    server_.name = "Aurora MySQL " + Variable("aurora_version");
    server_.node = Variable("aurora_server_id");
    server_.lossless = !MayLoseLastCommits();
    // One volume. What a commit did not wait for may be missing when another instance takes over.
    server_.history = server_.lossless ? "aurora" : "aurora " + server_.node;
    if (IsOn(Variable("innodb_read_only"))) {
      server_.refusal = "it is a reader of an Aurora cluster; use the cluster's writer endpoint";
    }
  }

  void DescribeGalera() {
    server_.engine = Engine::kGalera;
    server_.name += fmt::format(", Galera node {}, {}, cluster of {}", Variable("wsrep_node_name"),
                                Status("wsrep_local_state_comment"), Status("wsrep_cluster_size"));
    server_.node = Status("wsrep_gcomm_uuid") + " " + server_.node;
    server_.many_writers = true;
    server_.history = "galera " + Status("wsrep_cluster_state_uuid");
    server_.lossless = true;
    const std::string state = Status("wsrep_local_state_comment");
    if (Status("wsrep_cluster_status") != "Primary") {
      server_.refusal = "this Galera node is not in the primary component";
    } else if (!IsOn(Status("wsrep_ready")) || (state != "Synced" && state != "Donor/Desynced")) {
      server_.refusal = "this Galera node is not synchronised: " + state;
    }
  }

  void DescribeGroup() {
    server_.engine = Engine::kGroupReplication;
    const bool single = IsOn(Variable("group_replication_single_primary_mode"));
    server_.many_writers = !single;
    server_.history =
        "group " + Variable("group_replication_group_name") + (single ? "" : ", multi-primary");
    server_.lossless = true;
    const auto is_me = [&](const GroupMember& it) { return it.id == Variable("server_uuid"); };
    const auto me = std::ranges::find_if(facts_.group, is_me);
    const std::string state = me == facts_.group.end() || me->state.empty() ? "OFFLINE" : me->state;
    server_.name += fmt::format(", Group Replication, {}, {} {}, {} members, consistency {}",
                                single ? "single primary" : "multi-primary", state,
                                me == facts_.group.end() ? "" : me->role, facts_.group.size(),
                                Variable("group_replication_consistency"));
    const auto reachable = std::ranges::count_if(facts_.group, [](const GroupMember& it) {
      return it.state == "ONLINE" || it.state == "RECOVERING";
    });
    if (state != "ONLINE") {
      server_.refusal = "group replication is configured, but this member is " + state;
    } else if (me->role != "PRIMARY") {
      server_.refusal = "this member of the group is not a primary";
    } else if (static_cast<size_t>(reachable) * 2 <= facts_.group.size()) {
      server_.refusal = "this member does not see a majority of its group";
    }
  }

  void DescribeSemiSync() {
    if (!IsSemiSynchronous(facts_)) return;
    const bool new_names = HasNewNames(facts_);
    const std::string prefix = SemiSyncPrefix(facts_);
    server_.name += ", semi-synchronous";
    const bool waits = IsOn(Status(prefix + "status"));
    const bool forever = Number(Variable(prefix + "timeout")) >= kNeverMs;
    const std::string alone =
        Variable(prefix + "wait_no_slave") + Variable(prefix + "wait_no_replica");
    const bool after_sync = Variable(prefix + "wait_point") == "AFTER_SYNC";
    if (!waits) {
      server_.name += " (has fallen back to asynchronous)";
      server_.warnings.emplace_back(
          "semi-synchronous replication has fallen back to asynchronous: a failover may lose "
          "commits");
    }
    if (!forever) {
      server_.warnings.emplace_back(
          "semi-synchronous replication falls back to asynchronous after " +
          Variable(prefix + "timeout") + " ms: a failover may then lose commits; set " + prefix +
          "timeout to 4294967295");
    }
    if (!after_sync) {
      server_.warnings.emplace_back(prefix +
                                    "wait_point is not AFTER_SYNC: others may read what a"
                                    " failover loses");
    }
    if (alone == "OFF") {
      server_.warnings.emplace_back("the server does not wait while no replica is connected; set " +
                                    prefix + "wait_no_" + (new_names ? "replica" : "slave") +
                                    " to ON");
    }
    const uint64_t clients = Number(Status(prefix + "clients"));
    const std::string wait_for = Variable(prefix + "wait_for_replica_count");
    const bool all_have_it = clients <= (wait_for.empty() ? 1 : Number(wait_for));
    if (!all_have_it) {
      server_.warnings.emplace_back("a commit waits for " + (wait_for.empty() ? "1" : wait_for) +
                                    " of " + std::to_string(clients) +
                                    " replicas: the promotion of another one may lose commits");
    }
    if (facts_.writes_always) {
      server_.warnings.emplace_back(
          "Tenure's user may write to a server that is read-only, and a planned switch may lose "
          "that; take SUPER, CONNECTION_ADMIN and READ ONLY ADMIN away from it");
    }
    server_.lossless =
        !facts_.writes_always && waits && forever && after_sync && alone != "OFF" && all_have_it;
  }

  // Also on Aurora: with other values a commit does not wait for the volume.
  [[nodiscard]] bool MayLoseLastCommits() const {
    const std::string flush = Variable("innodb_flush_log_at_trx_commit");
    return !flush.empty() && flush != "1";
  }

  void WarnOfLostWrites() {
    if (!server_.refusal.empty()) return;
    if (MayLoseLastCommits()) {
      server_.warnings.emplace_back("innodb_flush_log_at_trx_commit is " +
                                    Variable("innodb_flush_log_at_trx_commit") +
                                    ": a crash of the server may lose commits; set it to 1");
    }
    if (server_.engine == Engine::kAurora) return;  // its volume does not need the next one
    if (IsOn(Variable("log_bin")) && Variable("sync_binlog") != "1") {
      server_.warnings.emplace_back(
          "sync_binlog is " + Variable("sync_binlog") +
          ": a crash may lose commits, or make replicas differ; set it to 1");
    }
    if (server_.engine == Engine::kGroupReplication &&
        Variable("group_replication_consistency") == "EVENTUAL") {
      server_.warnings.emplace_back(
          "group_replication_consistency is EVENTUAL, which shows old data after a failover; Tenure"
          " sets BEFORE for its own sessions");
    }
  }

  const ServerFacts& facts_;
  Server server_;
};

}  // namespace

bool InGroupReplication(const ServerFacts& facts) {
  return !Find(facts.variables, "group_replication_group_name").empty();
}

bool IsSemiSynchronous(const ServerFacts& facts) {
  return IsOn(Find(facts.variables, SemiSyncPrefix(facts) + "enabled"));
}

bool MayWriteAlways(std::string_view grant) {
  constexpr std::string_view kBegin = "GRANT ";
  const size_t end = grant.find(" ON *.* TO ");
  if (!grant.starts_with(kBegin) || end == std::string_view::npos) return false;
  std::string_view privileges = grant.substr(kBegin.size(), end - kBegin.size());
  while (!privileges.empty()) {
    const std::string_view one = privileges.substr(0, privileges.find(','));
    privileges.remove_prefix(std::min(one.size() + 1, privileges.size()));
    while (privileges.starts_with(' ')) privileges.remove_prefix(1);
    for (const std::string_view it :
         {"ALL PRIVILEGES", "SUPER", "CONNECTION_ADMIN", "READ_ONLY ADMIN", "READ ONLY ADMIN"}) {
      if (one == it) return true;
    }
  }
  return false;
}

Server Describe(const ServerFacts& facts) { return Describer(facts).Describe(); }

}  // namespace tenure::mysql
