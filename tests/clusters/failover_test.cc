// Clusters whose server in use fails, again and again, while twenty candidates take ten seats and
// give them up as fast as they can, and ten leaders hold theirs: on each kind of cluster, for each
// kind of failure. TENURE_TEST_FAILOVERS is the number of failovers; one line reports their cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tenure/elector.h"
#include "tenure/observer.h"
#include "tests/support/contention.h"
#include "tests/support/galera.h"
#include "tests/support/group_replication.h"
#include "tests/support/haproxy.h"
#include "tests/support/hosts.h"
#include "tests/support/replica_pair.h"

namespace tenure::testing {
namespace {

constexpr int kContests = 10;
constexpr int kSeats = 10;
// Keeps the whole history, even of a long run.
const std::vector<std::string> kFlags = {"--history-max-events", "10000000"};
// Maximum time for a failover and the clients' next calls.
constexpr auto kFailoverPatience = 4 * kPatience;

int Failovers() {
  const char* wanted = std::getenv("TENURE_TEST_FAILOVERS");
  return wanted == nullptr ? 1 : std::atoi(wanted);
}

// A cluster, and one way in which it fails.
class Cluster {
 public:
  virtual ~Cluster() = default;

  [[nodiscard]] virtual std::string Url() = 0;
  // Where the replica of Tenure with this number runs.
  [[nodiscard]] virtual Host HostOf(size_t /*number*/) { return {}; }
  // Nothing is mended before it returns.
  virtual void Fail() = 0;
  // Restores the cluster, though another server may stay in use.
  virtual void Mend() = 0;
  // A server that has everything that the cluster has.
  [[nodiscard]] virtual DatabaseServer& Survivor() = 0;
};

// The index of the server that Tenure uses.
size_t InUse(const std::vector<DatabaseServer*>& servers) {
  std::vector<int> connections;
  for (const DatabaseServer* server : servers) {
    const Finished asked = server->Query(
        "SELECT COUNT(*) FROM information_schema.processlist"
        " WHERE db = 'tenure' AND time < 2");  // connections to other servers are idle
    connections.push_back(asked.exit_code == 0 ? std::stoi(asked.output) : 0);
  }
  return static_cast<size_t>(std::ranges::max_element(connections) - connections.begin());
}

enum class Failure {
  kKill,
  kStop,    // SIGSTOP
  kCutOff,  // its host, and everything that runs there, from the other hosts
  kSwitch,  // planned
};

class GaleraCluster : public Cluster {
 public:
  explicit GaleraCluster(Failure failure) : failure_(failure) {
    galera_.server(0).FreshDatabase("tenure");
  }

  std::string Url() override { return galera_.Url("tenure"); }
  Host HostOf(size_t number) override { return hosts_.all().at(number); }
  void Fail() override {
    failed_ = InUse({&galera_.server(0), &galera_.server(1), &galera_.server(2)});
    if (failure_ == Failure::kCutOff) return hosts_.CutOff(failed_);
    if (failure_ == Failure::kKill) return galera_.server(failed_).Kill();
    galera_.server(failed_).process().Signal(SIGSTOP);
  }
  void Mend() override {
    if (failure_ == Failure::kKill) galera_.Rejoin(failed_);
    if (failure_ == Failure::kCutOff) hosts_.Reconnect(failed_);
    if (failure_ == Failure::kStop) galera_.server(failed_).process().Signal(SIGCONT);
    galera_.WaitUntilWhole();
  }
  DatabaseServer& Survivor() override { return galera_.server((failed_ + 1) % 3); }

 protected:
  Hosts hosts_{3};
  Galera galera_{hosts_.all()};
  const Failure failure_;
  size_t failed_ = 0;
};

// Its clients know only HAProxy, which sends all of them to the first node that answers.
class GaleraBehindProxy final : public GaleraCluster {
 public:
  GaleraBehindProxy()
      : GaleraCluster(Failure::kKill),
        proxy_({galera_.server(0).address(), galera_.server(1).address(),
                galera_.server(2).address()}) {}

  std::string Url() override {
    return "mysql://root@" + hosts_.router() + ":" + std::to_string(proxy_.port()) + "/tenure";
  }

 private:
  HaProxy proxy_;
};

class Group final : public Cluster {
 public:
  explicit Group(Failure failure) : failure_(failure) {
    group_.server(group_.WaitForPrimary()).FreshDatabase("tenure");
  }

  std::string Url() override { return group_.Url("tenure"); }
  Host HostOf(size_t number) override { return hosts_.all().at(number); }
  void Fail() override {
    failed_ = group_.WaitForPrimary();
    if (failure_ == Failure::kCutOff) return hosts_.CutOff(failed_);
    if (failure_ == Failure::kSwitch) return group_.Appoint((failed_ + 1) % 3);
    group_.server(failed_).process().Signal(failure_ == Failure::kKill ? SIGKILL : SIGSTOP);
    if (failure_ == Failure::kKill) group_.server(failed_).process().Wait();
  }
  void Mend() override {
    if (failure_ == Failure::kSwitch) return;
    if (failure_ == Failure::kCutOff) hosts_.Reconnect(failed_);
    // A member that was silent for this long was expelled, and is started again.
    if (failure_ != Failure::kKill) group_.server(failed_).Kill();
    group_.StartAlone(failed_);
    group_.Join(failed_);
  }
  DatabaseServer& Survivor() override { return group_.server(group_.WaitForPrimary()); }

 private:
  Hosts hosts_{3};
  GroupReplication group_{hosts_.all()};
  const Failure failure_;
  size_t failed_ = 0;
};

// Fails once: its source does not come back.
class Pair final : public Cluster {
 public:
  Pair(ReplicaPair::Kind kind, DatabaseServer::Engine engine, Failure failure)
      : pair_(kind, engine), failure_(failure) {}

  std::string Url() override { return pair_.Url(); }
  // Cuts the replica off, so that it lacks the commits before the failure.
  void CutOff() { pair_.Disconnect(); }
  void Fail() override {
    if (failure_ == Failure::kSwitch) return pair_.SwitchOver();
    pair_.source().Kill();
    pair_.Promote();
  }
  void Mend() override {}
  DatabaseServer& Survivor() override {
    return failure_ == Failure::kSwitch ? pair_.source() : pair_.replica();
  }

 private:
  ReplicaPair pair_;
  const Failure failure_;
};

// What the failovers of one kind cost.
class Costs {
 public:
  struct Seats {
    int by_lease = 0;   // the same term
    int returned = 0;   // the same holder, in a new term
    int passed_on = 0;  // another holder
  };
  void Add(std::chrono::milliseconds pause, const Seats& seats) {
    pauses_.push_back(pause);
    by_lease_ += seats.by_lease;
    returned_ += seats.returned;
    passed_on_ += seats.passed_on;
  }
  void Print(const std::string& kind) {
    std::ranges::sort(pauses_);
    const auto seconds = [](std::chrono::milliseconds pause) {
      return std::to_string(pause.count() / 1000) + "." + std::to_string(pause.count() / 100 % 10);
    };
    std::cout << "failovers: " << kind << ": " << pauses_.size() << ", without grants "
              << seconds(pauses_[pauses_.size() / 2]) << " s (median), " << seconds(pauses_.back())
              << " s (longest); seats kept by lease " << by_lease_ << ", returned to their holders "
              << returned_ << ", passed on " << passed_on_ << std::endl;
  }

 private:
  std::vector<std::chrono::milliseconds> pauses_;
  int by_lease_ = 0;
  int returned_ = 0;
  int passed_on_ = 0;
};

// Everything that runs on one cluster: three replicas of Tenure and an idle one, the candidates,
// and two observers.
class Service {
 public:
  explicit Service(Cluster& cluster) : idle_(cluster.Url(), kFlags, true, cluster.HostOf(0)) {
    for (size_t i = 0; i < 3; ++i) {
      servers_.push_back(std::make_unique<Tenured>(cluster.Url(), kFlags, true, cluster.HostOf(i)));
    }
    for (size_t i = 0; i < chronicles_.size(); ++i) {
      observers_.push_back(std::make_unique<tenure::Observer>(
          ObserverOptions{.endpoints = servers_[i]->endpoint(),
                          .names = {""},
                          .prefix = true,
                          .from_revision = 1,
                          .on_event = [this, i](const v1::Event& it) { chronicles_[i].Add(it); }}));
    }
    for (const char* name : {"first", "second"}) {
      std::string endpoints;
      for (const auto& server : servers_)
        endpoints += (endpoints.empty() ? "" : ",") + server->endpoint();
      clients_.push_back(
          std::make_unique<Client>(ClientOptions{.endpoints = endpoints, .candidate = name}));
      for (size_t i = 0; i < kSeats; ++i) {
        electors_.push_back(
            std::make_unique<Elector>(*clients_.back(), ElectorOptions{.election = SeatOf(i)}));
      }
      WaitForSeats();
    }
    load_ = std::make_unique<Load>(servers_, kContests);
    load_->AddReader(idle_);
    load_->WaitForCycles(100);
  }

  // Makes the cluster fail, waits until the service has recovered, and mends the cluster.
  void LiveThrough(Cluster& cluster, Costs& costs) {
    const auto before = WaitForSeats();
    (void)load_->TakeLongestPause();
    cluster.Fail();
    load_->WaitForCycles(100, kFailoverPatience);
    const auto pause = load_->TakeLongestPause();
    Costs::Seats seats;
    for (const auto& [seat, now] : WaitForSeats()) {
      const auto& then = before.at(seat);
      ++(now == then ? seats.by_lease : now.first == then.first ? seats.returned : seats.passed_on);
    }
    costs.Add(pause, seats);
    std::cout << "  failover: without grants " << pause.count() << " ms" << std::endl;
    cluster.Mend();
    load_->WaitForCycles(100, kFailoverPatience);
  }

  void EndLoad() { load_->Stop(); }
  [[nodiscard]] Load& load() { return *load_; }
  [[nodiscard]] Chronicle& chronicle(size_t number) { return chronicles_.at(number); }
  [[nodiscard]] Tenured& server(size_t number) { return *servers_.at(number); }
  [[nodiscard]] std::string Errors() {
    std::string errors = idle_.process().Errors();
    for (const auto& server : servers_) errors += server->process().Errors();
    return errors;
  }

 private:
  static std::string SeatOf(size_t number) { return "seat " + std::to_string(number); }
  using Seats = std::map<std::string, std::pair<std::string, uint64_t>>;

  // Waits until each seat is held.
  Seats WaitForSeats() {
    Seats held;
    const auto all_held = [&] { return (held = Held()).size() == kSeats; };
    EXPECT_TRUE(Eventually(all_held, kFailoverPatience));
    return held;
  }
  // The candidate and the term of each seat that is led.
  [[nodiscard]] Seats Held() {
    Seats held;
    for (size_t i = 0; i < kSeats; ++i) {
      v1::LeaderRequest request;
      request.set_election(SeatOf(i));
      v1::LeaderResponse response;
      const bool answered = std::ranges::any_of(servers_, [&](const auto& server) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + 1s);
        return server->stub().Leader(&context, request, &response).ok();
      });
      if (!answered || !response.has_leader()) continue;
      held[SeatOf(i)] = {response.leader().candidate(), response.term()};
    }
    return held;
  }

  std::vector<std::unique_ptr<Tenured>> servers_;
  Tenured idle_;  // beside the first: only asked who leads
  std::array<Chronicle, 2> chronicles_;
  std::vector<std::unique_ptr<tenure::Observer>> observers_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Elector>> electors_;
  std::unique_ptr<Load> load_;
};

// Each acknowledged grant is in the database that survived.
void ExpectInHistory(Load& load, DatabaseServer& survivor) {
  const std::string granted = survivor.Ask(
      "SELECT CONCAT(CAST(election AS CHAR), ' ', term) FROM tenure.events WHERE type = 1");
  std::set<std::string> history;
  std::istringstream lines(granted);
  for (std::string line; std::getline(lines, line);) history.insert(line);
  for (const auto& [grant, times] : load.Grants()) {
    const std::string line = grant.first + " " + std::to_string(grant.second);
    EXPECT_TRUE(history.contains(line)) << line << " is not in the history";
  }
}

// Nothing is lost, whatever fails.
void ExpectSafe(const std::string& kind, Cluster& cluster, int failovers, Costs& costs) {
  Service service(cluster);
  for (int i = 0; i < failovers; ++i) service.LiveThrough(cluster, costs);
  service.EndLoad();
  for (size_t i = 0; i < 2; ++i) {
    ExpectNothingLost(service.load(), service.chronicle(i), service.server(i));
  }
  ExpectInHistory(service.load(), cluster.Survivor());
  EXPECT_THAT(service.Errors(), ::testing::Not(::testing::HasSubstr("lost commits"))) << kind;
}

void ExpectSafe(const std::string& kind, Cluster& cluster) {
  Costs costs;
  ExpectSafe(kind, cluster, Failovers(), costs);
  costs.Print(kind);
}

TEST(FailoverTest, GaleraKill) {
  GaleraCluster cluster(Failure::kKill);
  ExpectSafe("Galera, kill -9", cluster);
}

TEST(FailoverTest, GaleraStop) {
  GaleraCluster cluster(Failure::kStop);
  ExpectSafe("Galera, SIGSTOP", cluster);
}

TEST(FailoverTest, GaleraCutOff) {
  GaleraCluster cluster(Failure::kCutOff);
  ExpectSafe("Galera, cut off", cluster);
}

TEST(FailoverTest, GaleraBehindHaProxy) {
  GaleraBehindProxy cluster;
  ExpectSafe("Galera behind HAProxy, kill -9", cluster);
}

TEST(FailoverTest, GroupReplicationKill) {
  Group cluster(Failure::kKill);
  ExpectSafe("Group Replication, kill -9", cluster);
}

TEST(FailoverTest, GroupReplicationStop) {
  Group cluster(Failure::kStop);
  ExpectSafe("Group Replication, SIGSTOP", cluster);
}

TEST(FailoverTest, GroupReplicationCutOff) {
  Group cluster(Failure::kCutOff);
  ExpectSafe("Group Replication, cut off", cluster);
}

TEST(FailoverTest, GroupReplicationSwitch) {
  Group cluster(Failure::kSwitch);
  ExpectSafe("Group Replication, planned switch", cluster);
}

class PairFailoverTest : public ::testing::TestWithParam<DatabaseServer::Engine> {
 protected:
  static std::string EngineName() {
    return GetParam() == DatabaseServer::Engine::kMySql ? "MySQL" : "MariaDB";
  }
  // Nothing is lost.
  static void ExpectSafePairs(const std::string& kind, Failure failure) {
    Costs costs;
    for (int i = 0; i < Failovers(); ++i) {
      Pair pair(ReplicaPair::Kind::kSemiSynchronous, GetParam(), failure);
      ExpectSafe(kind, pair, 1, costs);
    }
    costs.Print(EngineName() + ", semi-synchronous, " + kind);
  }
  // Commits are lost, and no term is given twice all the same.
  static void ExpectNoticed(const std::string& kind, Failure failure) {
    Costs costs;
    for (int i = 0; i < Failovers(); ++i) {
      Pair pair(ReplicaPair::Kind::kAsynchronous, GetParam(), failure);
      Service service(pair);
      if (failure == Failure::kKill) {
        pair.CutOff();
        service.load().WaitForCycles(100);
      }
      service.LiveThrough(pair, costs);
      service.EndLoad();
      for (const auto& [term, times] : service.load().Grants()) {
        EXPECT_EQ(times, 1) << term.first << " " << term.second;
      }
      EXPECT_THAT(service.Errors(), ::testing::HasSubstr("the database lost commits"));
      EXPECT_THAT(service.Errors(), ::testing::HasSubstr("all terms were raised"));
    }
    costs.Print(EngineName() + ", asynchronous, " + kind);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, PairFailoverTest,
                         ::testing::Values(DatabaseServer::Engine::kMariaDb,
                                           DatabaseServer::Engine::kMySql),
                         [](const auto& info) {
                           return info.param == DatabaseServer::Engine::kMySql ? "MySql"
                                                                               : "MariaDb";
                         });

TEST_P(PairFailoverTest, SemiSynchronousKill) { ExpectSafePairs("kill -9", Failure::kKill); }

TEST_P(PairFailoverTest, SemiSynchronousSwitch) {
  ExpectSafePairs("planned switch", Failure::kSwitch);
}

TEST_P(PairFailoverTest, AsynchronousKillWithALostTail) {
  ExpectNoticed("kill -9 with a lost tail", Failure::kKill);
}

TEST_P(PairFailoverTest, AsynchronousSwitch) { ExpectNoticed("planned switch", Failure::kSwitch); }

}  // namespace
}  // namespace tenure::testing
