// The C++ library's cache of leaders, against running servers.
#include "tenure/leader_cache.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <future>

#include "tests/client/elector_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;

class LeaderCacheTest : public ElectorTest {
 protected:
  [[nodiscard]] LeaderCacheOptions Of(std::vector<std::string> names, bool prefix = false) {
    return {.endpoints = BothEndpoints(), .names = std::move(names), .prefix = prefix};
  }
  static std::string LeaderIn(const LeaderCache& cache, const std::string& election) {
    const CachedSeat seat = cache.Get(election);
    if (!seat.known) return "unknown";
    return (seat.leader ? seat.leader->candidate() : "nobody") + " " + std::to_string(seat.term);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, LeaderCacheTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(LeaderCacheTest, AReadyCacheKnowsTheLeader) {
  Campaign(A(), {.election = "e", .candidate = "a", .value = "10.0.0.1:80"});
  const LeaderCache cache(Of({"e", "f"}));

  ASSERT_TRUE(cache.WaitUntilReady(kPatience));

  EXPECT_EQ(LeaderIn(cache, "e"), "a 1");
  EXPECT_EQ(cache.Get("e").leader->value(), "10.0.0.1:80");
  EXPECT_EQ(LeaderIn(cache, "f"), "nobody 0");
  EXPECT_EQ(LeaderIn(cache, "g"), "unknown");
}

TEST_P(LeaderCacheTest, TheCacheFollowsEveryChange) {
  const LeaderCache cache(Of({"e"}));
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));

  const auto session = Campaign(A(), {"e", "a"}).session().session_id();
  EXPECT_TRUE(Eventually([&] { return LeaderIn(cache, "e") == "a 1"; }));
  Proclaim(B(), session, "e", 1, "v");
  EXPECT_TRUE(Eventually([&] { return cache.Get("e").leader->value() == "v"; }));
  Resign(B(), session);
  EXPECT_TRUE(Eventually([&] { return LeaderIn(cache, "e") == "nobody 1"; }));
  Campaign(A(), {"e", "b"});
  EXPECT_TRUE(Eventually([&] { return LeaderIn(cache, "e") == "b 2"; }));
}

TEST_P(LeaderCacheTest, ACacheOfAPrefixAlsoKnowsUnusedElections) {
  Campaign(A(), {"shards/1", "a"});
  const LeaderCache cache(Of({"shards/", "jobs/"}, true));
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));

  EXPECT_EQ(LeaderIn(cache, "shards/1"), "a 1");
  EXPECT_EQ(LeaderIn(cache, "shards/2"), "nobody 0");
  EXPECT_EQ(LeaderIn(cache, "jobs/1"), "nobody 0");
  EXPECT_EQ(LeaderIn(cache, "shard"), "unknown");

  Campaign(A(), {"shards/2", "b"});
  EXPECT_TRUE(Eventually([&] { return LeaderIn(cache, "shards/2") == "b 1"; }));
}

TEST_P(LeaderCacheTest, ChangesAreReported) {
  Diary diary;
  auto options = Of({"e"});
  options.on_change = [&](const std::string& election, const CachedSeat& seat) {
    diary.Write(election + " " + std::to_string(seat.revision) + " " +
                (seat.leader ? seat.leader->candidate() : "nobody"));
  };
  const LeaderCache cache(options);
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));

  Resign(A(), Campaign(A(), {"e", "a"}).session().session_id());

  diary.WaitFor("e 2 nobody");
  EXPECT_THAT(diary.Lines(), ElementsAre("e 0 nobody", "e 1 a", "e 2 nobody"));
}

TEST_P(LeaderCacheTest, TheAgeGrowsWhileTheServiceIsAwayAndShrinksAfterwards) {
  Campaign(A(), {"e", "a"});
  const LeaderCache cache(Of({"e"}));
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));

  for (auto& server : servers_) server->Kill();
  const auto young = cache.age();
  EXPECT_TRUE(Eventually([&] { return cache.age() > young + 1s; }));
  EXPECT_EQ(LeaderIn(cache, "e"), "a 1");
  const auto old = cache.age();
  for (auto& server : servers_) server->Start();

  EXPECT_TRUE(Eventually([&] { return cache.age() < old; }));
}

TEST_P(LeaderCacheTest, AChangeMakesTheCacheYoung) {
  const LeaderCache cache(Of({"e"}));
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));
  const auto young = cache.age();
  EXPECT_TRUE(Eventually([&] { return cache.age() > young + 1s; }));
  const auto old = cache.age();

  Campaign(A(), {"e", "a"});
  EXPECT_TRUE(Eventually([&] { return LeaderIn(cache, "e") == "a 1"; }));

  EXPECT_LT(cache.age(), old);
}

TEST_P(LeaderCacheTest, TheNewsThatNothingHasChangedMakesTheCacheYoung) {
  const LeaderCache cache(Of({"e"}));
  ASSERT_TRUE(cache.WaitUntilReady(kPatience));
  EXPECT_TRUE(Eventually([&] { return cache.age() > 1s; }));
  const auto old = cache.age();

  EXPECT_TRUE(Eventually([&] { return cache.age() < old; }));
}

class Refusing final : public v1::ElectionService::Service {
  grpc::Status Observe(grpc::ServerContext*, const v1::ObserveRequest*,
                       grpc::ServerWriter<v1::ObserveResponse>*) override {
    return {grpc::StatusCode::INVALID_ARGUMENT, "no"};
  }
};

TEST_P(LeaderCacheTest, NobodyWaitsForACacheThatHasFailed) {
  const int port = FreePort();
  const std::string endpoint = "127.0.0.1:" + std::to_string(port);
  Diary diary;
  LeaderCacheOptions options{.endpoints = endpoint, .names = {"e"}};
  options.on_failed = [&](const grpc::Status&) { diary.Write("failed"); };
  const LeaderCache cache(options);
  auto ready = std::async(std::launch::async, [&] { return cache.WaitUntilReady(2 * kPatience); });

  Refusing refusing;
  grpc::ServerBuilder builder;
  builder.RegisterService(&refusing);
  builder.AddListeningPort(endpoint, grpc::InsecureServerCredentials());
  const auto server = builder.BuildAndStart();

  EXPECT_EQ(ready.wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(ready.get());
  diary.WaitFor("failed");
  EXPECT_FALSE(cache.WaitUntilReady(kPatience));
}

TEST_P(LeaderCacheTest, TheCacheIsNotReadyBeforeItHasReachedTheService) {
  for (auto& server : servers_) server->Kill();
  const LeaderCache cache(Of({"e"}));
  const LeaderCache of_prefix(Of({"shards/"}, true));

  EXPECT_FALSE(cache.WaitUntilReady(10ms));
  EXPECT_EQ(LeaderIn(cache, "e"), "unknown");
  EXPECT_EQ(LeaderIn(of_prefix, "shards/1"), "unknown");
  for (auto& server : servers_) server->Start();

  EXPECT_TRUE(cache.WaitUntilReady(kPatience));
}

TEST_P(LeaderCacheTest, TheCacheMayBeUsedAndDestroyedFromItsCallback) {
  Diary diary;
  std::unique_ptr<LeaderCache> cache;
  std::promise<void> made;
  auto options = Of({"e"});
  options.on_change = [&](const std::string& election, const CachedSeat&) {
    made.get_future().wait();
    diary.Write(LeaderIn(*cache, election));
    cache.reset();
    diary.Write("destroyed");
  };
  cache = std::make_unique<LeaderCache>(options);
  made.set_value();

  diary.WaitFor("destroyed");

  EXPECT_THAT(diary.Lines(), ElementsAre("nobody 0", "destroyed"));
}

}  // namespace
}  // namespace tenure::testing
