// A database that moves to another address of its name: a replica looks the name up for each
// connection that it makes, and tries every address that it leads to.
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

class MovingDatabaseTest : public ::testing::Test {
 protected:
  void LeadNameTo(const std::vector<std::string>& addresses) {
    std::ofstream file(hosts_);  // the file that is mounted
    for (const std::string& address : addresses) file << address << " database.test\n";
  }
  // Stops it, and starts it at another address.
  void Move(const std::string& address) {
    database_.Stop();
    database_.MoveTo({address});
    database_.Start();
  }

  DatabaseServer database_;
  const TempDir folder_;
  const std::string hosts_ = folder_.path() / "hosts";
};

TEST_F(MovingDatabaseTest, ASeatIsKept) {
  database_.FreshDatabase("tenure");
  LeadNameTo({"127.0.0.1"});
  Tenured replica(fmt::format("mysql://root@database.test:{}/tenure", database_.port()), {}, true,
                  {.enter = EnterWithHostsFile(hosts_)});
  const std::string session =
      Campaign(replica, {.election = "e", .candidate = "a", .lease_ttl = 60s})
          .session()
          .session_id();

  // Nobody listens on 127.0.0.9.
  for (const std::string address : {"127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    LeadNameTo(address == "127.0.0.3" ? std::vector<std::string>{address, "127.0.0.9"}
                                      : std::vector<std::string>{"127.0.0.9", address});
    Move(address);

    replica.WaitUntilReady();
    EXPECT_TRUE(Renew(replica, session).has_lease_ttl()) << address;
  }
  EXPECT_EQ(Leader(replica, "e").term(), 1u);
}

}  // namespace
}  // namespace tenure::testing
