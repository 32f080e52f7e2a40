#include "tests/chaos/faults.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
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

Heal KillDatabase(World& world, Random&) {
  world.database().Kill();
  return [&world] { world.database().Start(); };
}

Heal FreezeDatabase(World& world, Random&) {
  world.database().process().Signal(SIGSTOP);
  return [&world] { world.database().process().Signal(SIGCONT); };
}

Heal MakeReadOnly(World& world, Random&) {
  world.database().Ask("SET GLOBAL read_only = 1");
  return [&world] { world.database().Ask("SET GLOBAL read_only = 0"); };
}

// Somebody's forgotten transaction holds rows that Tenure needs.
Heal LockRows(World& world, Random&) {
  const auto url = fmt::format("mysql://root@127.0.0.1:{}/tenure", world.database().port());
  auto holder = std::make_shared<SqlApplication>(url);
  holder->Run("START TRANSACTION");
  for (const char* table : {"elections", "sessions", "lanes"}) {
    const auto locked = holder->Query(fmt::format("SELECT * FROM {} FOR UPDATE", table));
    if (!locked) break;  // a deadlock: it has let go of the others, too
  }
  return [holder] { (void)holder->Try("ROLLBACK"); };
}

Heal KillConnections(World& world, Random&) {
  world.database().EndConnections("tenure");
  return [] {};
}

Heal SetClock(World& world, Random& random) {
  constexpr std::array<std::chrono::seconds, 4> kSteps = {-3600s, -5s, 5s, 3600s};
  world.database().SetClock(kSteps.at(AnyOf(kSteps.size(), random)));
  return [&world] { world.database().SetClock(0s); };
}

Heal FillDisk(const std::string& folder) {
  const std::filesystem::path filler = std::filesystem::path(folder) / "filler";
  std::ofstream file(filler);
  while (file << std::string(64 << 10, 'x') << std::flush) continue;
  return [filler] { std::filesystem::remove(filler); };
}

// The links of one replica, or of all, in a state.
enum class Of : uint8_t { kDatabase, kClients };
Fault LinksBecome(std::string name, Of of, Link::State state,
                  std::chrono::milliseconds delay = {}) {
  return {std::move(name), [of, state, delay](World& world, Random& random) -> Heal {
            const size_t number = AnyOf(static_cast<size_t>(world.plan().replicas), random);
            Link& link =
                of == Of::kDatabase ? world.database_link(number) : world.client_link(number);
            link.Become(state, delay);
            return [&link] { link.Become(Link::State::kWhole); };
          }};
}

Heal CutAllLinks(World& world, Random&) {
  for (int i = 0; i < world.plan().replicas; ++i) {
    world.database_link(static_cast<size_t>(i)).Cut();
    world.client_link(static_cast<size_t>(i)).Cut();
  }
  return [] {};
}

// Replicas and their database part. So do clients and replicas.
Heal DarkenAll(World& world, Random& random) {
  const bool clients = AnyOf(2, random) == 0;
  std::vector<Link*> links;
  for (int i = 0; i < world.plan().replicas; ++i) {
    const auto number = static_cast<size_t>(i);
    links.push_back(clients ? &world.client_link(number) : &world.database_link(number));
  }
  for (Link* link : links) link->Become(Link::State::kDark);
  return [links] {
    for (Link* link : links) link->Become(Link::State::kWhole);
  };
}

}  // namespace

std::vector<Fault> AllFaults(const std::string& small_disk) {
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
      {"database's clock set", SetClock},
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
  if (!small_disk.empty()) {
    faults.push_back({"disk full", [small_disk](World&, Random&) { return FillDisk(small_disk); }});
  }
  return faults;
}

}  // namespace tenure::testing
