#include "tests/chaos/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using Heal = std::function<void()>;
using Random = std::mt19937_64;

size_t AnyOf(size_t count, Random& random) {
  return std::uniform_int_distribution<size_t>(0, count - 1)(random);
}
Tenured& AnyReplica(World& world, Random& random) {
  return world.replica(AnyOf(static_cast<size_t>(world.plan().replicas), random));
}

constexpr size_t kProcessesStruck = 5;

std::vector<size_t> SomeProcesses(World& world, Random& random) {
  std::vector<size_t> all(world.processes());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::ranges::shuffle(all, random);
  all.resize(std::min(kProcessesStruck, all.size()));
  return all;
}

Heal KillReplica(World& world, Random& random) {
  Tenured& replica = AnyReplica(world, random);
  replica.Kill();
  return [&replica] { replica.StartWithoutWaiting(); };
}

Heal FreezeReplica(World& world, Random& random) {
  Process& process = AnyReplica(world, random).process();
  process.Signal(SIGSTOP);
  return [&process] { process.Signal(SIGCONT); };
}

Heal KillCandidates(World& world, Random& random) {
  const std::vector<size_t> struck = SomeProcesses(world, random);
  for (const size_t number : struck) {
    world.process(number).Signal(SIGKILL);
    world.process(number).Wait();
  }
  return [&world, struck] {
    for (const size_t number : struck) world.StartProcess(number);
  };
}

Heal FreezeCandidates(World& world, Random& random) {
  const std::vector<size_t> struck = SomeProcesses(world, random);
  for (const size_t number : struck) world.process(number).Signal(SIGSTOP);
  return [&world, struck] {
    for (const size_t number : struck) world.process(number).Signal(SIGCONT);
  };
}

Heal KillDatabase(World& world, Random& random) {
  const size_t number = AnyOf(world.databases().size(), random);
  world.databases().server(number).Kill();
  return [&world, number] { world.databases().Restart(number); };
}

Heal FreezeDatabase(World& world, Random& random) {
  Process& process = world.databases().server(AnyOf(world.databases().size(), random)).process();
  process.Signal(SIGSTOP);
  return [&process] { process.Signal(SIGCONT); };
}

Heal MakeReadOnly(World& world, Random&) {
  DatabaseServer& server = world.databases().Writable();
  server.Ask("SET GLOBAL read_only = 1");
  return [&server] { server.Ask("SET GLOBAL read_only = 0"); };
}

// Somebody's forgotten transaction holds rows that Tenure needs.
Heal LockRows(World& world, Random&) {
  const auto url =
      fmt::format("mysql://root@127.0.0.1:{}/tenure", world.databases().Writable().port());
  auto holder = std::make_shared<SqlApplication>(url);
  holder->Run("START TRANSACTION");
  for (const char* table : {"elections", "sessions", "lanes"}) {
    const auto locked = holder->Query(fmt::format("SELECT * FROM {} FOR UPDATE", table));
    if (!locked) break;  // a deadlock, which released the other locks, too
  }
  return [holder] { (void)holder->Try("ROLLBACK"); };
}

Heal KillConnections(World& world, Random&) {
  world.databases().Writable().EndConnections("tenure");
  return [] {};
}

Heal SetClock(World& world, Random& random) {
  constexpr std::array<std::chrono::seconds, 4> kSteps = {-3600s, -5s, 5s, 3600s};
  DatabaseServer& server = world.databases().server(0);
  server.SetClock(kSteps.at(AnyOf(kSteps.size(), random)));
  return [&server] { server.SetClock(0s); };
}

Heal FillDisk(const std::string& folder) {
  const std::filesystem::path filler = std::filesystem::path(folder) / "filler";
  std::ofstream file(filler);
  while (file << std::string(64 << 10, 'x') << std::flush) continue;
  return [filler] { std::filesystem::remove(filler); };
}

// Which links of a replica: those to its databases, or the one to its clients.
enum class Of : uint8_t { kDatabase, kClients };
std::vector<Link*> LinksOf(const World& world, size_t replica, Of of) {
  if (of == Of::kDatabase) return world.LinksToDatabases(replica);
  return {&world.client_link(replica)};
}
std::vector<Link*> LinksOfAll(const World& world, Of of) {
  std::vector<Link*> all;
  for (int i = 0; i < world.plan().replicas; ++i) {
    std::ranges::copy(LinksOf(world, static_cast<size_t>(i), of), std::back_inserter(all));
  }
  return all;
}
Heal BecomeFor(std::vector<Link*> links, Link::State state, std::chrono::milliseconds delay = {}) {
  for (Link* link : links) link->Become(state, delay);
  return [links = std::move(links)] {
    for (Link* link : links) link->Become(Link::State::kWhole);
  };
}

// Puts the links of one replica into a state.
Fault LinksBecome(std::string name, Of of, Link::State state,
                  std::chrono::milliseconds delay = {}) {
  return {std::move(name), [of, state, delay](World& world, Random& random) -> Heal {
            const size_t replica = AnyOf(static_cast<size_t>(world.plan().replicas), random);
            return BecomeFor(LinksOf(world, replica, of), state, delay);
          }};
}

Heal CutAllLinks(World& world, Random&) {
  for (const Of of : {Of::kDatabase, Of::kClients}) {
    for (Link* link : LinksOfAll(world, of)) link->Cut();
  }
  return [] {};
}

// Cuts all replicas off from their databases, or all clients from the replicas.
Heal DarkenAll(World& world, Random& random) {
  const Of of = AnyOf(2, random) == 0 ? Of::kDatabase : Of::kClients;
  return BecomeFor(LinksOfAll(world, of), Link::State::kDark);
}

}  // namespace

std::vector<Fault> FaultsFor(const WorldPlan& plan) {
  using State = Link::State;
  std::vector<Fault> faults = {
      {"replica killed", KillReplica},
      {"replica frozen", FreezeReplica},
      {"candidates killed", KillCandidates},
      {"candidates frozen", FreezeCandidates},
      {"database killed", KillDatabase},
      {"database frozen", FreezeDatabase},
      {"database read-only", MakeReadOnly},
      {"rows locked by others", LockRows},
      {"connections killed", KillConnections},
      {"all connections cut", CutAllLinks},
      {"all parted", DarkenAll},
      LinksBecome("replies of the database lost", Of::kDatabase, State::kMute),
      LinksBecome("replies of a replica lost", Of::kClients, State::kMute),
      LinksBecome("replica without database", Of::kDatabase, State::kDark),
      LinksBecome("clients without replica", Of::kClients, State::kDark),
      LinksBecome("database slow", Of::kDatabase, State::kSlow, 100ms),
      LinksBecome("replica slow", Of::kClients, State::kSlow, 300ms),
      LinksBecome("connections half-closed", Of::kClients, State::kHalfClosed),
  };
  if (plan.databases == DatabaseKind::kMariaDb) {
    faults.push_back({"database's clock set", SetClock});
  }
  if (!plan.small_disk.empty()) {
    faults.push_back(
        {"disk full", [disk = plan.small_disk](World&, Random&) { return FillDisk(disk); }});
  }
  return faults;
}

}  // namespace tenure::testing
