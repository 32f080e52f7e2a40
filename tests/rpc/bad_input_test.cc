// Bad input to every call: one precise code and reason, and nothing changed.
#include "tests/rpc/bad_input_fixture.h"

namespace tenure::testing {
namespace {

using grpc::StatusCode;
using ::testing::IsEmpty;
using ::testing::SizeIs;

INSTANTIATE_TEST_SUITE_P(Stores, BadInputTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(BadInputTest, BadElectionNamesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_ELECTION_NAME");

  for (const std::string& name :
       {std::string(), std::string(256, 'x'), std::string("a\nb"), std::string("a\0b", 3),
        std::string("\x7f"), std::string("\xc2\x85")}) {
    EXPECT_EQ(Try({name, "c"}), refused);
    EXPECT_EQ(TryProclaim(leader_, name, 1), refused);
    if (!name.empty()) {  // an empty one is all elections
      EXPECT_EQ(TryResign(leader_, name), refused);
    }
    EXPECT_EQ(TryObserve(Election(name)), refused);
    grpc::ClientContext context;
    v1::LeaderRequest request;
    request.set_election(name);
    v1::LeaderResponse response;
    EXPECT_EQ(ToRefusal(A().stub().Leader(&context, request, &response)), refused);
  }
}

TEST_P(BadInputTest, BadCandidatesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_CANDIDATE");

  EXPECT_EQ(Try({"e", ""}), refused);
  EXPECT_EQ(Try({"e", std::string(256, 'x')}), refused);
  EXPECT_EQ(Try({"e", "a\tb"}), refused);
  EXPECT_EQ(Try({"e", "somebody else", waiter_}), refused);
}

TEST_P(BadInputTest, BadValuesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_VALUE");

  EXPECT_EQ(Try({"e", "c", "", std::string(4097, 'x')}), refused);
  EXPECT_EQ(TryProclaim(leader_, "e", 1, std::string(4097, 'x')), refused);
}

TEST_P(BadInputTest, BadLeasesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_LEASE_TTL");

  EXPECT_EQ(Try({"e", "c", "", "", 0ms, 999ms}), refused);
  EXPECT_EQ(Try({"e", "c", "", "", 0ms, 24h + 1ms}), refused);
  EXPECT_EQ(Try({"e", "c", "", "", 0ms, 0ms}), refused);
  EXPECT_EQ(Try({"e", "c", "", "", 0ms, -10s}), refused);
}

TEST_P(BadInputTest, BadWaitsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_WAIT");
  v1::CampaignRequest malformed = ToRequest({"e", "c"});
  malformed.mutable_wait()->set_seconds(1);
  malformed.mutable_wait()->set_nanos(-1);

  EXPECT_EQ(Try({"e", "c", "", "", -1ms}), refused);
  EXPECT_EQ(Try(malformed), refused);
}

TEST_P(BadInputTest, BadRequestIdsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST_ID");

  EXPECT_EQ(Try({"e", "c", "", "", 0ms, 30s, 0, std::string(15, 'x')}), refused);
  EXPECT_EQ(Try({"e", "c", "", "", 0ms, 30s, 0, std::string(65, 'x')}), refused);
}

TEST_P(BadInputTest, MalformedSessionsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SESSION_ID");

  for (const std::string& session : {std::string("x"), nobody_ + "0", std::string(32, 'G')}) {
    EXPECT_EQ(Try({"e", "c", session}), refused);
    EXPECT_EQ(TryProclaim(session, "e", 1), refused);
    EXPECT_EQ(TryResign(session, "e"), refused);
    EXPECT_EQ(TryKeepAlive({leader_, session}), refused);
  }
  EXPECT_EQ(TryKeepAlive({}), refused);
  EXPECT_EQ(TryKeepAlive(std::vector<std::string>(501, leader_)), refused);
}

TEST_P(BadInputTest, UnknownSessionsAreRefused) {
  const auto refused = Refused(StatusCode::NOT_FOUND, "SESSION_NOT_FOUND");

  EXPECT_EQ(Try({"e", "c", nobody_}), refused);
  EXPECT_EQ(Try({"new election", "c", nobody_}), refused);
  EXPECT_EQ(TryProclaim(nobody_, "e", 1), refused);
  EXPECT_EQ(TryResign(nobody_, "e"), refused);
  EXPECT_EQ(TryResign(nobody_, ""), refused);
  EXPECT_TRUE(Renew(A(), nobody_).not_found());
}

TEST_P(BadInputTest, EndedSessionsAreRefused) {
  const auto refused = Refused(StatusCode::FAILED_PRECONDITION, "SESSION_ENDED");
  const std::string ended = Campaign(A(), {"e", "ended"}).session().session_id();
  Resign(A(), ended);

  EXPECT_EQ(Try({"e", "ended", ended}), refused);
  EXPECT_EQ(TryProclaim(ended, "e", 1), refused);
  EXPECT_EQ(Resign(A(), ended, "e").outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);
  EXPECT_EQ(Resign(A(), ended).outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);
  EXPECT_EQ(Renew(A(), ended).ended(), v1::CAUSE_SESSION_CLOSED);
}

TEST_P(BadInputTest, TheSeatOfAnotherIsRefused) {
  const auto refused = Refused(StatusCode::FAILED_PRECONDITION, "NOT_LEADER");
  const std::string stranger = Campaign(A(), {"f", "stranger"}).session().session_id();

  EXPECT_EQ(TryProclaim(waiter_, "e", 1), refused);
  EXPECT_EQ(TryProclaim(stranger, "e", 1), refused);
  EXPECT_EQ(TryResign(stranger, "e", 1), refused);
  EXPECT_EQ(Resign(A(), stranger, "e").outcome(), v1::ResignResponse::OUTCOME_NOT_STANDING);
  before_ = Everything();  // with election "f"
  EXPECT_EQ(Leader(A(), "e").revision(), 1u);
}

TEST_P(BadInputTest, StaleTermsAreRefused) {
  const auto refused = Refused(StatusCode::FAILED_PRECONDITION, "STALE_TERM");

  EXPECT_EQ(TryProclaim(leader_, "e", 2), refused);
  EXPECT_EQ(TryResign(leader_, "e", 2), refused);
  EXPECT_EQ(TryResign(leader_, "e", 0), refused);
  EXPECT_EQ(TryResign(waiter_, "e", 1), refused);
}

TEST_P(BadInputTest, TermsOfZeroAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_TERM");

  EXPECT_EQ(TryProclaim(leader_, "e", 0), refused);
  EXPECT_EQ(TryResign(leader_, "", 0), refused);
  EXPECT_EQ(TryResign(leader_, "", 1), refused);
}

TEST_P(BadInputTest, AnAfterTermNeedsASessionAndOneElection) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_TERM");

  EXPECT_EQ(Try({.election = "e", .candidate = "c", .after_term = 1}), refused);
  EXPECT_EQ(Try({.election = "e", .session_id = leader_, .after_term = 0}), refused);
  EXPECT_EQ(Try({.session_id = leader_, .elections = {"e", "f"}, .after_term = 1}), refused);
}

TEST_P(BadInputTest, UnknownElectionsAreRefused) {
  const auto refused = Refused(StatusCode::NOT_FOUND, "ELECTION_NOT_FOUND");

  EXPECT_EQ(TryProclaim(leader_, "nowhere", 1), refused);
  EXPECT_EQ(TryResign(leader_, "nowhere"), refused);
  EXPECT_FALSE(Leader(A(), "nowhere").has_leader());
  EXPECT_EQ(Leader(A(), "nowhere").term(), 0u);
}

TEST_P(BadInputTest, BadSelectorsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SELECTOR");
  v1::ObserveRequest nothing_selected;
  nothing_selected.add_selectors();
  v1::ObserveRequest too_many;
  for (int i = 0; i < 11'001; ++i) too_many.add_selectors()->set_election("e");

  v1::ObserveRequest too_many_prefixes;
  for (int i = 0; i <= 64; ++i) too_many_prefixes.add_selectors()->set_prefix(std::to_string(i));

  EXPECT_EQ(TryObserve({}), refused);
  EXPECT_EQ(TryObserve(too_many_prefixes), refused);
  EXPECT_EQ(TryObserve(nothing_selected), refused);
  EXPECT_EQ(TryObserve(too_many), refused);
  EXPECT_EQ(TryObserve(Election("e", 0)), refused);
}

TEST_P(BadInputTest, MalformedRequestsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "MALFORMED_REQUEST");
  const std::string endless_tag = "\xff\xff\xff";
  const std::string cut_off = "\x0a\x7f";
  const std::string not_utf8 = "\x0a\x02\xff\xfe";

  for (const auto* method : AllMethods()) {
    EXPECT_EQ(ToRefusal(SendBytes(A().channel(), *method, endless_tag)), refused) << method->name();
    EXPECT_EQ(ToRefusal(SendBytes(A().channel(), *method, cut_off)), refused) << method->name();
    if (method->name() == "KeepAlive") continue;             // whose first field is a number
    if (method->input_type()->field_count() == 0) continue;  // no field is a string
    EXPECT_EQ(ToRefusal(SendBytes(A().channel(), *method, not_utf8)), refused) << method->name();
  }
}

// Earlier requests were answered.
TEST_P(BadInputTest, AMalformedRequestEndsAKeepAliveStream) {
  grpc::ClientContext context;
  const auto stream = A().stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.add_session_ids(leader_);
  stream->Write(request);
  v1::KeepAliveResponse response;
  ASSERT_TRUE(stream->Read(&response));
  request.set_session_ids(0, "\xff");

  stream->Write(request);

  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(ToRefusal(stream->Finish()),
            Refused(StatusCode::INVALID_ARGUMENT, "MALFORMED_REQUEST"));
}

TEST(BoundTest, AFullQueueRefusesTheNextCandidate) {
  Tenured server("sqlite::memory:", {"--queue-max", "1"});
  Campaign(server, {"e", "leader"});
  Campaign(server, {"e", "waiter"});
  grpc::ClientContext context;
  v1::CampaignResponse response;

  const auto status = server.stub().Campaign(&context, ToRequest({"e", "late"}), &response);

  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "QUEUE_FULL");
  EXPECT_TRUE(Campaign(server, {"f", "late"}).has_elected());
}

}  // namespace
}  // namespace tenure::testing
