// A request_id opens the same session for the same caller, and no other caller's.
#include "server/rpc/campaign_request.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tenure::rpc {
namespace {

constexpr char kKey[] = "thirty-two bytes that nobody has";
constexpr char kRequestId[] = "sixteen bytes or more";

CampaignCaller As(const std::string& identity, const Result<std::string>& key = kKey) {
  return {{identity, {}}, key};
}

v1::CampaignRequest Opening(const std::string& request_id) {
  v1::CampaignRequest request;
  request.set_election("orders");
  request.set_candidate("a");
  request.set_request_id(request_id);
  return request;
}

SessionId SessionFor(const CampaignCaller& caller, const std::string& request_id = kRequestId) {
  return ParseCampaign(Opening(request_id), Limits(), caller).value().campaign.session;
}

TEST(RequestIdTest, TheSameRequestIdOfTheSameCallerOpensTheSameSession) {
  EXPECT_EQ(SessionFor(As("team")), SessionFor(As("team")));
  EXPECT_EQ(SessionFor(As("")), SessionFor(As("")));
}

TEST(RequestIdTest, ASetFindsTheSessionOfTheSameRequestId) {
  v1::CampaignRequest request = Opening(kRequestId);
  request.clear_election();
  request.add_elections("orders");

  const auto parsed = ParseCampaignForAll(request, Limits(), As("team"));

  EXPECT_EQ(parsed.value().campaign.session, SessionFor(As("team")));
}

// Other keys, identities and request_ids, and another boundary between the last two.
TEST(RequestIdTest, AnotherKeyIdentityOrRequestIdOpensAnotherSession) {
  const std::string request_id = kRequestId;
  const std::set<SessionId> sessions = {
      SessionFor(As("")),
      SessionFor(As("team")),
      SessionFor(As("teams"), request_id),
      SessionFor(As("team"), "s" + request_id),
      SessionFor(As("team", "thirty-two bytes of another one.")),
      SessionFor(As("team"), "another of as many bytes"),
  };

  EXPECT_EQ(sessions.size(), 6u);
}

TEST(RequestIdTest, EachByteOfTheRequestIdAndOfTheIdentityCounts) {
  const std::string longest(64, 'x');
  for (const size_t at : {0, 31, 32, 63}) {
    std::string other = longest;
    other[at] = 'y';
    EXPECT_NE(SessionFor(As("team"), longest), SessionFor(As("team"), other)) << at;
    EXPECT_NE(SessionFor(As(longest)), SessionFor(As(other))) << at;
  }
}

TEST(RequestIdTest, WithoutARequestIdEachCallOpensItsOwnSession) {
  EXPECT_NE(SessionFor(As("team"), ""), SessionFor(As("team"), ""));
}

TEST(RequestIdTest, WithoutTheKeyTheCallIsRefusedAndMayBeSentAgain) {
  const auto caller = As("team", Fail(Reason::kStoreUnavailable, "the database is away"));

  const auto parsed = ParseCampaign(Opening(kRequestId), Limits(), caller);

  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().reason, Reason::kStoreUnavailable);
  EXPECT_EQ(parsed.error().message, "the database is away");
  EXPECT_TRUE(ParseCampaign(Opening(""), Limits(), caller));
}

TEST(RequestIdTest, TheCampaignBelongsToItsCaller) {
  const Principal principal{"team", {.sessions = 3}};

  const auto parsed = ParseCampaign(Opening(""), Limits(), {principal, kKey});

  EXPECT_EQ(parsed.value().campaign.principal, principal);
}

}  // namespace
}  // namespace tenure::rpc
