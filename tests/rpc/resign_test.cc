// Scenario 22: resigning during a renewal, resigning twice, or from an ended term does no harm, and
// is answered truthfully.
#include <future>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int kRounds = 40;

// Does two things at the same time, starting with either in turn.
template <typename One, typename Other>
auto AtTheSameTime(int round, One one, Other other) {
  if (round % 2 == 0) {
    auto second = std::async(std::launch::async, other);
    auto first = one();
    return std::pair(std::move(first), second.get());
  }
  auto first = std::async(std::launch::async, one);
  auto second = other();
  return std::pair(first.get(), std::move(second));
}

class ResignTest : public ServiceTest {
 protected:
  // A leader of "e", and the candidate that waits behind it.
  struct Contest {
    std::string leader;
    std::string next;
    uint64_t term;
  };

  Contest Begin() {
    const auto leader = Campaign(A(), {"e", "leader"});
    const auto next = Campaign(B(), {"e", "next"});
    EXPECT_EQ(next.standing().position(), 1u);
    return {leader.session().session_id(), next.session().session_id(), leader.elected().term()};
  }

  // Ends both. The only events are those of the leader's term, and then the next one's.
  void End(const Contest& contest, const std::string& cause) {
    const auto now = Leader(A(), "e");
    EXPECT_EQ(now.leader().candidate(), "next");
    EXPECT_EQ(now.term(), contest.term + 1);
    Resign(A(), contest.leader);
    Resign(B(), contest.next);

    const std::string term = std::to_string(contest.term);
    const std::string term_after = std::to_string(contest.term + 1);
    history_.insert(
        history_.end(),
        {"ELECTED leader " + term, "VACATED leader " + term + " " + cause,
         "ELECTED next " + term_after, "VACATED next " + term_after + " SESSION_CLOSED"});
    Observer observer(B(), Election("e", 1));
    EXPECT_EQ(Texts(observer.WaitForEvents(history_.size())), history_);
    EXPECT_EQ(Leader(B(), "e").revision(), history_.size());
  }

  struct Resigned {
    grpc::StatusCode code;
    google::rpc::ErrorInfo error;
    v1::ResignResponse::Outcome outcome;
  };
  static Resigned ResignFrom(Tenured& server, const std::string& session, uint64_t term) {
    grpc::ClientContext context;
    v1::ResignRequest request;
    request.set_session_id(session);
    request.set_election("e");
    request.set_term(term);
    v1::ResignResponse response;
    const auto status = server.stub().Resign(&context, request, &response);
    return {status.error_code(), InfoOf(status), response.outcome()};
  }

  // Renews the leader's session, and reads on until the seat is gone: because the renewal
  // does not list it, or because its loss is reported.
  v1::SessionRenewal RenewUntilTheSeatIsGone(Tenured& server, const Contest& contest) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const auto stream = server.stub().KeepAlive(&context);
    v1::KeepAliveRequest request;
    request.add_session_ids(contest.leader);
    stream->Write(request);
    std::optional<v1::SessionRenewal> renewal;
    bool lost = false;
    v1::KeepAliveResponse response;
    while (!renewal || (!renewal->seats().empty() && !lost)) {
      if (!stream->Read(&response)) {
        ADD_FAILURE() << "the stream leaves its client in term " << contest.term;
        break;
      }
      if (response.has_renewal()) renewal = response.renewal().sessions(0);
      lost |= response.notice().lost().term() == contest.term;
    }
    context.TryCancel();
    return renewal.value_or(v1::SessionRenewal());
  }

  std::vector<std::string> history_;
};

INSTANTIATE_TEST_SUITE_P(Stores, ResignTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(ResignTest, AConcurrentRenewalKeepsTheSessionButNotTheSeat) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const Contest contest = Begin();

    const auto renew = [&] { return RenewUntilTheSeatIsGone(B(), contest); };
    const auto resign = [&] { return Resign(A(), contest.leader, "e"); };
    const auto [renewed, resigned] = AtTheSameTime(round, renew, resign);

    EXPECT_EQ(resigned.outcome(), v1::ResignResponse::OUTCOME_RESIGNED);
    EXPECT_EQ(resigned.term(), contest.term);
    EXPECT_TRUE(renewed.has_lease_ttl());
    const auto after = Renew(B(), contest.leader);
    EXPECT_TRUE(after.has_lease_ttl());
    EXPECT_THAT(after.seats(), IsEmpty());
    End(contest, "RESIGNED");
  }
}

TEST_P(ResignTest, AConcurrentRenewalDoesNotReviveAClosedSession) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const Contest contest = Begin();

    const auto renew = [&] { return RenewUntilTheSeatIsGone(B(), contest); };
    const auto close = [&] { return Resign(A(), contest.leader); };
    const auto [renewed, closed] = AtTheSameTime(round, renew, close);

    EXPECT_EQ(closed.outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);
    EXPECT_TRUE(renewed.has_lease_ttl() || renewed.ended() == v1::CAUSE_SESSION_CLOSED)
        << renewed.ShortDebugString();
    // Its home hears of it a moment later.
    EXPECT_TRUE(
        Eventually([&] { return Renew(B(), contest.leader).ended() == v1::CAUSE_SESSION_CLOSED; }));
    End(contest, "SESSION_CLOSED");
  }
}

// A client without a stream renews by campaigning.
TEST_P(ResignTest, AConcurrentCampaignLearnsWhetherItCameBeforeOrAfter) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const Contest contest = Begin();

    const auto campaign = [&] { return Campaign(B(), {"e", "", contest.leader}); };
    const auto resign = [&] { return Resign(A(), contest.leader, "e"); };
    const auto [campaigned, resigned] = AtTheSameTime(round, campaign, resign);

    EXPECT_EQ(resigned.outcome(), v1::ResignResponse::OUTCOME_RESIGNED);
    EXPECT_EQ(resigned.term(), contest.term);
    const auto left = Resign(B(), contest.leader, "e");
    if (campaigned.has_elected()) {
      EXPECT_EQ(campaigned.elected().term(), contest.term);
      EXPECT_EQ(left.outcome(), v1::ResignResponse::OUTCOME_NOT_STANDING);
    } else {
      EXPECT_EQ(campaigned.standing().position(), 1u);
      EXPECT_EQ(left.outcome(), v1::ResignResponse::OUTCOME_WITHDRAWN);
    }
    End(contest, "RESIGNED");
  }
}

TEST_P(ResignTest, OneOfTwoConcurrentResignationsEndsTheTerm) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const Contest contest = Begin();

    const auto on_a = [&] { return Resign(A(), contest.leader, "e"); };
    const auto on_b = [&] { return Resign(B(), contest.leader, "e"); };
    const auto [one, other] = AtTheSameTime(round, on_a, on_b);

    EXPECT_THAT((std::vector{one.outcome(), other.outcome()}),
                UnorderedElementsAre(v1::ResignResponse::OUTCOME_RESIGNED,
                                     v1::ResignResponse::OUTCOME_NOT_STANDING));
    End(contest, "RESIGNED");
  }
}

TEST_P(ResignTest, ResigningTwiceReportsThatNothingChanged) {
  const Contest contest = Begin();
  const std::string waiter = Campaign(A(), {"e", "waiter"}).session().session_id();
  ASSERT_EQ(Resign(A(), waiter, "e").outcome(), v1::ResignResponse::OUTCOME_WITHDRAWN);
  ASSERT_EQ(Resign(A(), contest.leader, "e").outcome(), v1::ResignResponse::OUTCOME_RESIGNED);

  EXPECT_EQ(Resign(B(), waiter, "e").outcome(), v1::ResignResponse::OUTCOME_NOT_STANDING);
  EXPECT_EQ(Resign(B(), contest.leader, "e").outcome(), v1::ResignResponse::OUTCOME_NOT_STANDING);
  EXPECT_EQ(ResignFrom(B(), contest.leader, contest.term).outcome,
            v1::ResignResponse::OUTCOME_NOT_STANDING);
  EXPECT_EQ(Resign(A(), contest.leader).outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);
  EXPECT_EQ(Resign(B(), contest.leader).outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);
  EXPECT_EQ(Resign(B(), contest.leader, "e").outcome(), v1::ResignResponse::OUTCOME_SESSION_ENDED);

  End(contest, "RESIGNED");
}

TEST_P(ResignTest, ALateResignationFromAnEndedTermChangesNothing) {
  const Contest contest = Begin();
  Resign(A(), contest.leader, "e");
  ASSERT_EQ(Campaign(A(), {"e", "", contest.leader}).standing().position(), 1u);

  const Resigned while_it_waits = ResignFrom(B(), contest.leader, contest.term);
  EXPECT_EQ(Campaign(A(), {"e", "", contest.leader}).standing().position(), 1u);
  Resign(A(), contest.next, "e");
  ASSERT_EQ(Leader(B(), "e").term(), contest.term + 2);
  const Resigned while_it_leads = ResignFrom(B(), contest.leader, contest.term);

  EXPECT_EQ(Leader(A(), "e").leader().candidate(), "leader");
  EXPECT_EQ(Leader(A(), "e").term(), contest.term + 2);
  for (const Resigned& refused : {while_it_waits, while_it_leads}) {
    EXPECT_EQ(refused.code, grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(refused.error.reason(), "STALE_TERM");
  }
  EXPECT_EQ(while_it_waits.error.metadata().at("current_term"), std::to_string(contest.term + 1));
  EXPECT_EQ(while_it_leads.error.metadata().at("current_term"), std::to_string(contest.term + 2));
}

}  // namespace
}  // namespace tenure::testing
