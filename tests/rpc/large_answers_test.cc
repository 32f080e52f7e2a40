// Answers that would be larger than the 4 MB which a client takes, unless it says otherwise.
#include <fmt/format.h>

#include <set>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::Ge;
using ::testing::SizeIs;

const std::string kLargeValue(4'096, 'v');

class LargeAnswersTest : public ServiceTest {
 protected:
  // Takes seats with one session, with the largest values. Returns the session.
  std::string Lead(int sets) {
    std::string session;
    for (int set = 0; set < sets; ++set) {
      CampaignArguments all{.value = kLargeValue, .lease_ttl = 10min};
      (session.empty() ? all.candidate : all.session_id) = session.empty() ? "a" : session;
      for (int i = 0; i < 32; ++i) all.elections.push_back(fmt::format("e {} {}", set, i));
      session = Campaign(A(), all).session().session_id();
    }
    return session;
  }
};

TEST_P(LargeAnswersTest, TheSeatsOfASessionComeInParts) {
  const std::string session = Lead(40);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  const auto stream = B().stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.set_sequence(7);
  request.add_session_ids(session);
  stream->Write(request);
  stream->WritesDone();

  std::set<std::string> seats;
  int parts = 0;
  bool more = true;
  for (v1::KeepAliveResponse response; stream->Read(&response);) {
    if (response.has_notice()) continue;  // this replica hears of the last seats only now
    ++parts;
    ASSERT_TRUE(response.has_renewal() && more) << response.DebugString().substr(0, 200);
    EXPECT_EQ(response.renewal().sequence(), 7u);
    more = response.renewal().more();
    ASSERT_THAT(response.renewal().sessions(), SizeIs(1));
    EXPECT_TRUE(response.renewal().sessions(0).has_lease_ttl());
    for (const v1::Leadership& seat : response.renewal().sessions(0).seats()) {
      EXPECT_EQ(seat.value(), kLargeValue);
      EXPECT_TRUE(seats.insert(seat.election()).second) << seat.election();
    }
  }

  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_FALSE(more);
  EXPECT_THAT(parts, Ge(4));
  EXPECT_THAT(seats, SizeIs(40 * 32));
}

TEST_P(LargeAnswersTest, APageOfElectionsEndsBeforeItOutgrowsAMessage) {
  Lead(40);
  v1::ListElectionsRequest request;
  request.set_page_size(1'000);
  std::set<std::string> names;
  do {
    grpc::ClientContext context;
    v1::ListElectionsResponse page;
    const grpc::Status status = B().admin().ListElections(&context, request, &page);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_THAT(page.elections(), SizeIs(Ge(1)));
    for (const v1::Election& it : page.elections()) {
      EXPECT_TRUE(names.insert(it.name()).second) << it.name();
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());

  EXPECT_THAT(names, SizeIs(40 * 32));
}

TEST_P(LargeAnswersTest, APageOfAQueueEndsBeforeItOutgrowsAMessage) {
  constexpr int kWaiting = 1'000;
  Campaign(A(), {.election = "e", .candidate = "leader", .lease_ttl = 10min});
  for (int i = 0; i < kWaiting; ++i) {
    Campaign(A(), {.election = "e",
                   .candidate = fmt::format("candidate {}", i),
                   .value = kLargeValue,
                   .lease_ttl = 10min});
  }
  v1::DescribeElectionRequest request;
  request.set_election("e");
  request.set_page_size(1'000);
  uint64_t position = 0;
  do {
    grpc::ClientContext context;
    v1::DescribeElectionResponse page;
    const grpc::Status status = B().admin().DescribeElection(&context, request, &page);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_THAT(page.queue(), SizeIs(Ge(1)));
    for (const v1::Candidate& it : page.queue()) {
      EXPECT_EQ(it.candidate(), fmt::format("candidate {}", position));
      EXPECT_EQ(it.position(), ++position);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());

  EXPECT_EQ(position, kWaiting);
}

INSTANTIATE_TEST_SUITE_P(All, LargeAnswersTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

}  // namespace
}  // namespace tenure::testing
