// Bad input to operators' calls, and to Campaign in fields besides names and leases: one precise
// code and reason, and nothing changed.
#include "tests/rpc/bad_input_fixture.h"
#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

using grpc::StatusCode;
using ::testing::IsEmpty;

// Malformed, or outside every bound.
std::vector<google::protobuf::Duration> BadDurations() {
  google::protobuf::Duration signs_differ;
  signs_differ.set_seconds(1);
  signs_differ.set_nanos(-1);
  google::protobuf::Duration too_many_nanos;
  too_many_nanos.set_nanos(1'000'000'000);
  google::protobuf::Duration endless;
  endless.set_seconds(std::numeric_limits<int64_t>::max());
  return {Time(-1ms), Time(24h + 1ms), signs_differ, too_many_nanos, endless};
}

class AdminBadInputTest : public BadInputTest {
 protected:
  // Operators see no change either.
  std::string Everything() override {
    std::string text = BadInputTest::Everything() + "\n";
    for (auto election : ListElections(A())) {
      election.clear_lease_left();
      text += election.ShortDebugString() + "\n";
      for (auto candidate : ListQueue(A(), election.name())) {
        candidate.clear_lease_left();
        text += candidate.ShortDebugString() + "\n";
      }
    }
    for (auto session : ListSessions(A())) {
      session.clear_lease_left();
      text += session.ShortDebugString() + "\n";
    }
    for (const auto& change : ListChanges(A())) text += change.ShortDebugString() + "\n";
    return text;
  }

  template <typename Request, typename Response>
  Refusal TryAdmin(AdminCall<Request, Response> call,
                   const std::type_identity_t<Request>& request) {
    return ToRefusal(TryCall(A(), call, request));
  }

  // Every call that names an election.
  std::vector<Refusal> TryAllOn(const std::string& name, const std::string& reason = "") {
    v1::DescribeElectionRequest describe;
    describe.set_election(name);
    std::vector<Refusal> refusals = {
        TryAdmin(&AdminStub::Appoint,
                 ToRequest(AppointArguments{
                     .election = name, .term = 1, .candidate = "waiter", .reason = reason})),
        TryAdmin(&AdminStub::Depose,
                 ToRequest(DeposeArguments{.election = name, .term = 1, .reason = reason})),
        TryAdmin(&AdminStub::Pause, For<v1::PauseRequest>(name, reason)),
        TryAdmin(&AdminStub::Resume, For<v1::ResumeRequest>(name, reason)),
        TryAdmin(&AdminStub::UpdateElection,
                 ToRequest(UpdateArguments{.election = name, .lock_delay = 1s, .reason = reason})),
        TryAdmin(&AdminStub::DeleteElection, For<v1::DeleteElectionRequest>(name, reason))};
    if (reason.empty()) refusals.push_back(TryAdmin(&AdminStub::DescribeElection, describe));
    return refusals;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, AdminBadInputTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(AdminBadInputTest, BadElectionNamesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_ELECTION_NAME");

  for (const std::string& name : {std::string(), std::string(256, 'x'), std::string("a\nb"),
                                  std::string("a\0b", 3), std::string("\xc2\x85")}) {
    EXPECT_THAT(TryAllOn(name), ::testing::Each(refused));
    v1::ListTermsRequest terms;
    terms.set_election(name);
    EXPECT_EQ(TryAdmin(&AdminStub::ListTerms, terms), refused);
    v1::ListChangesRequest changes;
    changes.set_election(name);
    if (!name.empty()) {  // an empty one is all changes
      EXPECT_EQ(TryAdmin(&AdminStub::ListChanges, changes), refused);
    }
    EXPECT_EQ(Try({.candidate = "c", .elections = {"f", name}}), refused);
  }
}

TEST_P(AdminBadInputTest, UnknownElectionsAreRefused) {
  const auto refused = Refused(StatusCode::NOT_FOUND, "ELECTION_NOT_FOUND");

  EXPECT_THAT(TryAllOn("nowhere"), ::testing::Each(refused));
}

TEST_P(AdminBadInputTest, BadReasonsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_REASON");

  for (const std::string& reason :
       {std::string(256, 'x'), std::string("a\nb"), std::string("\x1b[2J"), std::string("\x7f")}) {
    EXPECT_THAT(TryAllOn("e", reason), ::testing::Each(refused));
    v1::EndSessionRequest end;
    end.set_handle(leader_.substr(0, 16));
    end.set_reason(reason);
    EXPECT_EQ(TryAdmin(&AdminStub::EndSession, end), refused);
  }
}

TEST_P(AdminBadInputTest, BadCandidatesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_CANDIDATE");

  for (const std::string& candidate : {std::string(), std::string(256, 'x'), std::string("a\tb")}) {
    EXPECT_EQ(TryAdmin(&AdminStub::Appoint, ToRequest(AppointArguments{"e", 1, candidate})),
              refused);
    EXPECT_EQ(TryAdmin(&AdminStub::Appoint,
                       ToRequest(AppointArguments{
                           .election = "e", .term = 1, .candidate = candidate, .reserve_for = 1s})),
              refused);
  }
}

TEST_P(AdminBadInputTest, ACandidateThatIsNotStandingIsRefused) {
  const auto refused = Refused(StatusCode::FAILED_PRECONDITION, "CANDIDATE_NOT_STANDING");

  EXPECT_EQ(TryAdmin(&AdminStub::Appoint, ToRequest(AppointArguments{"e", 1, "stranger"})),
            refused);
  EXPECT_EQ(TryAdmin(&AdminStub::Appoint, ToRequest(AppointArguments{"e", 1, "Waiter", true})),
            refused);
}

TEST_P(AdminBadInputTest, StaleTermsAreRefused) {
  const auto refused = Refused(StatusCode::FAILED_PRECONDITION, "STALE_TERM");
  auto remove = For<v1::DeleteElectionRequest>("e");

  for (const uint64_t term : {uint64_t{0}, uint64_t{2}, std::numeric_limits<uint64_t>::max()}) {
    EXPECT_EQ(TryAdmin(&AdminStub::Appoint, ToRequest(AppointArguments{"e", term, "waiter"})),
              refused);
    remove.set_term(term);
    EXPECT_EQ(TryAdmin(&AdminStub::DeleteElection, remove), refused);
    if (term == 0) continue;  // to depose it is a malformed request
    EXPECT_EQ(TryAdmin(&AdminStub::Depose, ToRequest(DeposeArguments{"e", term})), refused);
  }
}

TEST_P(AdminBadInputTest, TermsOfZeroAreRefused) {
  EXPECT_EQ(TryAdmin(&AdminStub::Depose, ToRequest(DeposeArguments{"e", 0})),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_TERM"));
}

TEST_P(AdminBadInputTest, BadDurationsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SETTING");

  for (const auto& duration : BadDurations()) {
    SCOPED_TRACE(duration.ShortDebugString());
    auto appoint = ToRequest(AppointArguments{"e", 1, "waiter"});
    *appoint.mutable_reserve_for() = duration;
    EXPECT_EQ(TryAdmin(&AdminStub::Appoint, appoint), refused);
    auto depose = ToRequest(DeposeArguments{"e", 1});
    *depose.mutable_cool_down() = duration;
    EXPECT_EQ(TryAdmin(&AdminStub::Depose, depose), refused);
    for (const std::string field :
         {"lock_delay", "min_hold", "default_lease_ttl", "max_lease_ttl"}) {
      auto update = For<v1::UpdateElectionRequest>("e");
      const auto* descriptor = update.GetDescriptor()->FindFieldByName(field);
      ASSERT_NE(descriptor, nullptr);
      update.GetReflection()->MutableMessage(&update, descriptor)->CopyFrom(duration);
      const auto status = TryCall(A(), &AdminStub::UpdateElection, update);
      EXPECT_EQ(ToRefusal(status), refused);
      EXPECT_EQ(InfoOf(status).metadata().at("field"), field);
    }
  }
}

TEST_P(AdminBadInputTest, AReservationOfZeroTimeIsRefused) {
  auto appoint = ToRequest(AppointArguments{"e", 1, "waiter"});
  *appoint.mutable_reserve_for() = Time(0ms);

  EXPECT_EQ(TryAdmin(&AdminStub::Appoint, appoint),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SETTING"));
}

TEST_P(AdminBadInputTest, PurgesOfRecentlyUsedElectionsAreRefused) {
  auto durations = BadDurations();
  std::erase(durations, Time(24h + 1ms));
  durations.push_back(Time(24h - 1ms));
  for (const auto& duration : durations) {
    SCOPED_TRACE(duration.ShortDebugString());
    v1::PurgeElectionsRequest purge;
    *purge.mutable_unused_for() = duration;
    const auto status = TryCall(A(), &AdminStub::PurgeElections, purge);

    EXPECT_EQ(ToRefusal(status), Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SETTING"));
    EXPECT_EQ(InfoOf(status).metadata().at("field"), "unused_for");
    EXPECT_EQ(InfoOf(status).metadata().at("min"), "24h");
  }
  EXPECT_EQ(TryAdmin(&AdminStub::PurgeElections, {}),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SETTING"));
  EXPECT_EQ(TryAdmin(&AdminStub::PurgeElections, ToRequest(PurgeArguments{.reason = "a\nb"})),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_REASON"));
  auto page = ToRequest(PurgeArguments{});
  page.set_page_size(-1);
  EXPECT_EQ(TryAdmin(&AdminStub::PurgeElections, page),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_PAGE"));
}

TEST_P(AdminBadInputTest, BadQueueLimitsAreRefused) {
  const auto status = TryCall(
      A(), &AdminStub::UpdateElection,
      ToRequest(UpdateArguments{
          .election = "e", .lock_delay = 1s, .max_candidates = 1'000'001, .allow_missing = true}));

  EXPECT_EQ(ToRefusal(status), Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SETTING"));
  EXPECT_EQ(InfoOf(status).metadata().at("field"), "max_candidates");
  EXPECT_EQ(InfoOf(status).metadata().at("max"), "1000000");
}

TEST_P(AdminBadInputTest, BadHandlesAreRefused) {
  const auto malformed = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SESSION_ID");
  v1::EndSessionRequest request;

  EXPECT_EQ(TryAdmin(&AdminStub::EndSession, request), malformed);
  for (const std::string& handle : {leader_.substr(0, 15), leader_.substr(0, 17), leader_,
                                    std::string(16, 'G'), std::string(16, 'A'), std::string("%")}) {
    request.set_handle(handle);
    EXPECT_EQ(TryAdmin(&AdminStub::EndSession, request), malformed) << handle;
  }
  request.set_handle(nobody_.substr(0, 16));
  EXPECT_EQ(TryAdmin(&AdminStub::EndSession, request),
            Refused(StatusCode::NOT_FOUND, "SESSION_NOT_FOUND"));
}

TEST_P(AdminBadInputTest, BadPagesAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_PAGE");
  v1::DescribeElectionRequest describe;
  describe.set_election("e");
  v1::ListTermsRequest terms;
  terms.set_election("e");
  const auto expect_refused = [&](int32_t size, const std::string& token) {
    const auto with = [&](auto request) {
      request.set_page_size(size);
      request.set_page_token(token);
      return request;
    };
    EXPECT_EQ(TryAdmin(&AdminStub::DescribeElection, with(describe)), refused) << token;
    EXPECT_EQ(TryAdmin(&AdminStub::ListTerms, with(terms)), refused) << token;
    EXPECT_EQ(TryAdmin(&AdminStub::ListChanges, with(v1::ListChangesRequest())), refused) << token;
    EXPECT_EQ(TryAdmin(&AdminStub::ListSessions, with(v1::ListSessionsRequest())), refused)
        << token;
  };
  v1::ListElectionsRequest elections;
  elections.set_page_size(-1);

  EXPECT_EQ(TryAdmin(&AdminStub::ListElections, elections), refused);
  expect_refused(-1, "");
  for (const std::string token :
       {"x", "-1", "1 ", " 1", "1e3", "0x10", "9223372036854775808", "' OR 1=1 --"}) {
    expect_refused(10, token);
  }
}

TEST_P(AdminBadInputTest, AForeignPageTokenNeverFails) {
  v1::ListElectionsRequest elections;
  elections.set_page_token("zzz");
  v1::DescribeElectionRequest describe;
  describe.set_election("e");
  describe.set_page_token("9223372036854775807");

  EXPECT_THAT(Ask(A(), &AdminStub::ListElections, elections).elections(), IsEmpty());
  EXPECT_THAT(Ask(A(), &AdminStub::DescribeElection, describe).queue(), IsEmpty());
}

TEST_P(AdminBadInputTest, BadSetsOfElectionsAreRefused) {
  const auto refused = Refused(StatusCode::INVALID_ARGUMENT, "INVALID_ELECTION_SET");
  std::vector<std::string> too_many;
  for (int i = 0; i < 33; ++i) too_many.push_back("f" + std::to_string(i));

  EXPECT_EQ(Try({.election = "e", .candidate = "c", .elections = {"f"}}), refused);
  EXPECT_EQ(Try({.candidate = "c", .elections = {"f", "g", "f"}}), refused);
  EXPECT_EQ(Try({.candidate = "c", .elections = too_many}), refused);
}

TEST_P(AdminBadInputTest, SetsWithBadSessionsCandidatesOrLeasesAreRefused) {
  const auto invalid = [](const std::string& reason) {
    return Refused(StatusCode::INVALID_ARGUMENT, reason);
  };

  EXPECT_EQ(Try({.elections = {"f"}}), invalid("INVALID_CANDIDATE"));
  EXPECT_EQ(Try({.candidate = "c", .session_id = waiter_, .elections = {"f"}}),
            invalid("INVALID_CANDIDATE"));
  EXPECT_EQ(Try({.candidate = "c", .session_id = "x", .elections = {"f"}}),
            invalid("INVALID_SESSION_ID"));
  EXPECT_EQ(Try({.candidate = "c", .session_id = nobody_, .elections = {"f"}}),
            Refused(StatusCode::NOT_FOUND, "SESSION_NOT_FOUND"));
  EXPECT_EQ(Try({.candidate = "c", .value = std::string(4097, 'x'), .elections = {"f"}}),
            invalid("INVALID_VALUE"));
  EXPECT_EQ(Try({.candidate = "c", .wait = -1ms, .elections = {"f"}}), invalid("INVALID_WAIT"));
  EXPECT_EQ(Try({.candidate = "c", .lease_ttl = 1ms, .elections = {"f"}}),
            invalid("INVALID_LEASE_TTL"));
  EXPECT_EQ(Try({.candidate = "c", .request_id = "short", .elections = {"f"}}),
            invalid("INVALID_REQUEST_ID"));
}

TEST_P(AdminBadInputTest, SupersedingNeedsACandidate) {
  EXPECT_EQ(Try({.election = "e", .session_id = waiter_, .supersede = true}),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_CANDIDATE"));
  EXPECT_EQ(Try({.election = "e", .supersede = true}),
            Refused(StatusCode::INVALID_ARGUMENT, "INVALID_CANDIDATE"));
}

TEST_P(AdminBadInputTest, BadPreviousSessionsAreRefused) {
  for (const std::string& session : {std::string("x"), nobody_ + "0", std::string(32, 'G')}) {
    EXPECT_EQ(Try({.election = "e", .candidate = "c", .previous_session_id = session}),
              Refused(StatusCode::INVALID_ARGUMENT, "INVALID_SESSION_ID"));
  }
}

}  // namespace
}  // namespace tenure::testing
