// What one client may ask of a replica, and what is left for the others.
#include <algorithm>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::SizeIs;

// Names of elections: `prefix` and a number, all equally long.
std::vector<std::string> Names(const std::string& prefix, size_t from, size_t count,
                               size_t length = 0) {
  std::vector<std::string> names;
  for (size_t i = from; i < from + count; ++i) {
    std::string number = std::to_string(1'000'000 + i);
    const size_t padding = std::max(length, prefix.size() + number.size()) - prefix.size();
    names.push_back(prefix + std::string(padding - number.size(), '.') + number);
  }
  return names;
}

// A session that leads in all of `elections`.
std::string LeadAll(Tenured& server, const std::vector<std::string>& elections,
                    const std::string& value = "") {
  constexpr size_t kSet = 32;
  std::string session;
  for (size_t i = 0; i < elections.size(); i += kSet) {
    const auto set = std::vector(
        elections.begin() + static_cast<ptrdiff_t>(i),
        elections.begin() + static_cast<ptrdiff_t>(std::min(i + kSet, elections.size())));
    session = Campaign(server, {.candidate = "greedy",
                                .session_id = session,
                                .value = value,
                                .lease_ttl = std::chrono::minutes(10),
                                .elections = set})
                  .session()
                  .session_id();
  }
  return session;
}

class GreedyClientTest : public ::testing::Test {
 protected:
  Tenured server_{"sqlite::memory:"};
};

TEST_F(GreedyClientTest, ManyEqualPrefixesDelayNobodyElse) {
  LeadAll(server_, Names("e", 0, 2'000));
  v1::ObserveRequest request;
  for (int i = 0; i < 11'000; ++i) request.add_selectors()->set_prefix("e");
  Observer observer(server_, request);

  do {
    Leader(server_, "e1000000");  // which has to succeed
  } while (!observer.IsOpen());

  EXPECT_THAT(observer.Messages(), SizeIs(2'000));
}

}  // namespace
}  // namespace tenure::testing
