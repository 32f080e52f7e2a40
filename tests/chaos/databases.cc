#include "tests/chaos/databases.h"

#include <stdexcept>

#include "tests/support/galera.h"
#include "tests/support/group_replication.h"

namespace tenure::testing {
namespace {

constexpr size_t kMembers = 3;

class OneServer final : public Databases {
 public:
  explicit OneServer(const std::string& small_disk)
      : server_(DatabaseServer::Engine::kMariaDb, Host(), small_disk) {
    server_.SetClock(std::chrono::seconds(0));
    server_.Start();
  }

  [[nodiscard]] size_t size() const override { return 1; }
  DatabaseServer& server(size_t) override { return server_; }
  void Restart(size_t) override { server_.Start(); }
  void WaitUntilWhole() override {}

 private:
  DatabaseServer server_;
};

class GaleraNodes final : public Databases {
 public:
  [[nodiscard]] size_t size() const override { return kMembers; }
  DatabaseServer& server(size_t number) override { return galera_.server(number); }
  void Restart(size_t number) override { galera_.Rejoin(number); }
  void WaitUntilWhole() override { galera_.WaitUntilWhole(); }

 private:
  Galera galera_;
};

// A member that was silent for long was expelled, and has to be started again.
class GroupMembers final : public Databases {
 public:
  [[nodiscard]] size_t size() const override { return kMembers; }
  DatabaseServer& server(size_t number) override { return group_.server(number); }
  DatabaseServer& Writable() override { return group_.server(group_.WaitForPrimary()); }
  void Restart(size_t number) override {
    group_.StartAlone(number);
    group_.Join(number);
  }
  void WaitUntilWhole() override {
    for (size_t i = 0; i < kMembers; ++i) {
      if (IsOnline(i)) continue;
      server(i).Kill();
      Restart(i);
    }
  }

 private:
  [[nodiscard]] bool IsOnline(size_t number) {
    return Eventually(
        [&] {
          const Finished members = server(number).Query(
              "SELECT COUNT(*) FROM performance_schema.replication_group_members"
              " WHERE MEMBER_STATE = 'ONLINE'");
          return members.output == std::to_string(kMembers) + "\n";
        },
        kPatience / 2);
  }

  GroupReplication group_;
};

}  // namespace

std::unique_ptr<Databases> StartDatabases(DatabaseKind kind, const std::string& small_disk) {
  switch (kind) {
    case DatabaseKind::kMariaDb: return std::make_unique<OneServer>(small_disk);
    case DatabaseKind::kGalera: return std::make_unique<GaleraNodes>();
    case DatabaseKind::kGroupReplication: return std::make_unique<GroupMembers>();
  }
  throw std::invalid_argument("no such database");
}

}  // namespace tenure::testing
