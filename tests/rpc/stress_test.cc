// Many clients do everything at once, on two replicas; afterwards the event log and the tables must
// be consistent.
#include <random>
#include <thread>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

constexpr int kClients = 12;
constexpr int kSteps = 150;

class StressTest : public ServiceTest {
 protected:
  Tenured& AnyOf(std::mt19937& random) { return random() % 2 ? A() : B(); }

  // One client's random walk. Errors that the contract allows are fine; its sessions are all ended.
  void Walk(int number, uint32_t seed) {
    std::mt19937 random(seed);
    const std::string candidate = "c" + std::to_string(number);
    std::string session;
    for (int step = 0; step < kSteps; ++step) {
      const std::string election = "e" + std::to_string(random() % 3);
      Tenured& server = AnyOf(random);
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kPatience);
      grpc::Status status;
      switch (random() % 10) {
        case 0:
        case 1:
        case 2:
        case 3: {
          auto wait = std::chrono::milliseconds(random() % 3 * 20);
          CampaignArguments arguments{election, session.empty() ? candidate : "", session};
          arguments.value = std::to_string(step);
          arguments.wait = wait;
          arguments.priority = static_cast<int>(random() % 3);
          arguments.lease_ttl = 2s;
          v1::CampaignResponse response;
          status = server.stub().Campaign(&context, ToRequest(arguments), &response);
          if (status.ok()) session = response.session().session_id();
          break;
        }
        case 4: {
          CampaignArguments arguments{election, session.empty() ? candidate : "", session};
          arguments.lease_ttl = 2s;
          WaitingCampaign cancelled(server, arguments);
          break;
        }
        case 5: {
          v1::ProclaimRequest request;
          request.set_session_id(session);
          request.set_election(election);
          request.set_term(Leader(server, election).term());
          request.set_value(std::to_string(random()));
          v1::ProclaimResponse response;
          if (request.term() > 0) status = server.stub().Proclaim(&context, request, &response);
          break;
        }
        case 6:
        case 7:
        case 8: {
          v1::ResignRequest request;
          request.set_session_id(session);
          request.set_election(election);
          v1::ResignResponse response;
          status = server.stub().Resign(&context, request, &response);
          break;
        }
        default:
          if (!session.empty()) Resign(server, session);
          session.clear();
      }
      const auto code = status.error_code();
      const bool allowed = status.ok() || code == grpc::StatusCode::INVALID_ARGUMENT ||
                           code == grpc::StatusCode::FAILED_PRECONDITION ||
                           code == grpc::StatusCode::NOT_FOUND;
      EXPECT_TRUE(allowed) << ReasonOf(status);
    }
    if (!session.empty()) Resign(AnyOf(random), session);
  }

  static void ExpectTrueStory(const std::vector<v1::Event>& events) {
    uint64_t term = 0;
    bool led = false;
    for (size_t i = 0; i < events.size(); ++i) {
      const v1::Event& event = events[i];
      ASSERT_EQ(event.revision(), i + 1);
      if (event.type() == v1::Event::TYPE_ELECTED) {
        ASSERT_FALSE(led) << "two leaders at revision " << event.revision();
        led = true;
        ++term;
      } else {
        ASSERT_TRUE(led) << "revision " << event.revision();
        led = event.type() != v1::Event::TYPE_VACATED;
      }
      ASSERT_EQ(event.leadership().term(), term);
    }
    EXPECT_FALSE(led);
    EXPECT_GT(term, 1u);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StressTest,
                         ::testing::Values(StoreKind::kSqlite, StoreKind::kMariaDb), StoreKindName);

TEST_P(StressTest, ThereAreNeverTwoLeadersAndNothingIsLost) {
  const char* replayed = std::getenv("TENURE_TEST_SEED");
  const auto seed = static_cast<uint32_t>(replayed ? std::stoul(replayed) : std::random_device{}());
  SCOPED_TRACE("TENURE_TEST_SEED=" + std::to_string(seed));
  Observer on_a(A(), Prefix("e", 1));
  Observer on_b(B(), Prefix("e", 1));

  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] { Walk(i, seed + static_cast<uint32_t>(i)); });
  }
  for (std::thread& client : clients) client.join();
  // A cancelled campaign without a session of its own leaves one that ends with its lease at the
  // latest. All others are closed here, so the seats become vacant when the abandoned leases
  // expire.
  for (const std::string election : {"e0", "e1", "e2"}) {
    ASSERT_TRUE(Eventually([&] { return !Leader(A(), election).has_leader(); }, 60s));
    // One more term: a seat that was abandoned at first may have been held all the time.
    Resign(A(), Campaign(A(), {election, "last"}).session().session_id());
  }

  for (const std::string election : {"e0", "e1", "e2"}) {
    SCOPED_TRACE(election);
    const uint64_t revision = Leader(B(), election).revision();
    const auto of_election = [&](Observer& observer) {
      std::vector<v1::Event> events;
      for (const v1::Event& event : observer.Events()) {
        if (event.election() == election) events.push_back(event);
      }
      return events;
    };
    EXPECT_TRUE(Eventually([&] { return of_election(on_a).size() >= revision; }));
    EXPECT_TRUE(Eventually([&] { return of_election(on_b).size() >= revision; }));
    ExpectTrueStory(of_election(on_a));
    EXPECT_EQ(Texts(of_election(on_a)), Texts(of_election(on_b)));
    Observer late(B(), Election(election, 1));
    EXPECT_EQ(Texts(late.WaitForEvents(revision)), Texts(of_election(on_a)));
  }
  if (GetParam() == StoreKind::kMariaDb) {
    EXPECT_TRUE(Eventually([] {
      return Database()
                 .Query(
                     "SELECT (SELECT SUM(waiting) FROM tenure.elections),"
                     " (SELECT COUNT(*) FROM tenure.candidacies),"
                     " (SELECT COUNT(*) FROM tenure.sessions WHERE state <> 2)")
                 .output == "0\t0\t0\n";
    }));
  }
}

}  // namespace
}  // namespace tenure::testing
