// Sixteen clients campaign, renew, resign, appoint, depose, pause, configure, delete and end
// sessions at random, on two replicas. Afterwards the event log, the tables, and what observers and
// clients received must be consistent.
//
// TENURE_TEST_SEED replays a seed (what the clients do; the interleaving is not replayed), and
// TENURE_TEST_SECONDS says for how long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <thread>

#include "tests/storm/client.h"
#include "tests/storm/story.h"

namespace tenure::testing::storm {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kClients = 16;
constexpr int kSecondsByDefault = 6;

// The number in an environment variable.
std::optional<uint32_t> Given(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  return static_cast<uint32_t>(std::stoul(value));
}

template <typename Row>
std::vector<Row> Of(const std::string& election, const std::vector<Row>& rows) {
  std::vector<Row> own;
  std::ranges::copy_if(rows, std::back_inserter(own),
                       [&](const Row& row) { return row.election == election; });
  return own;
}

class AdminStormTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KeepTrimmedEvents(database_);
    for (const std::string& election : elections_) {
      observers_.emplace_back(election, std::make_unique<Observer>(a_, Election(election, 1)));
      observers_.emplace_back(election, std::make_unique<Observer>(b_, Election(election, 1)));
    }
    for (const auto& [election, observer] : observers_) observer->WaitUntilOpen();
  }

  Testimony Rage(uint32_t seed, std::chrono::seconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    std::vector<Client> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back(std::vector{&a_, &b_}, elections_, i, seed + static_cast<uint32_t>(i));
    }
    std::vector<std::thread> threads;
    for (Client& client : clients) threads.emplace_back([&] { client.RunUntil(end); });
    for (std::thread& thread : threads) thread.join();
    Testimony testimony;
    for (const Client& client : clients) testimony.Add(client.testimony());
    return testimony;
  }

  // Every session ends; seats that pass meanwhile pass to others that end.
  void EndAllSessions() {
    EXPECT_TRUE(Eventually([&] {
      const auto sessions = ListSessions(a_);
      for (const auto& session : sessions) EndSession(b_, session.handle(), "the end");
      return sessions.empty();
    }));
    for (const std::string& election : elections_) {
      EXPECT_TRUE(Eventually([&] { return !Leader(a_, election).has_leader(); })) << election;
    }
  }

  void ExpectWaitingCountsAreTrue() {
    EXPECT_EQ(database_
                  .Query("SELECT name, waiting, (SELECT COUNT(*) FROM tenure.candidacies c"
                         " WHERE c.election = e.name) AS places FROM tenure.elections e"
                         " HAVING waiting <> places")
                  .output,
              "");
  }

  // What an observer got is the log, each event once and in its order.
  void ExpectObserversToldAllOf(const std::vector<EventRow>& events) {
    for (const auto& [election, observer] : observers_) {
      SCOPED_TRACE(election);
      std::vector<std::string> logged;
      for (const EventRow& event : Of(election, events)) logged.push_back(Text(event));
      std::vector<std::string> told;
      for (const auto& event : observer->WaitForEvents(logged.size())) told.push_back(Text(event));
      EXPECT_EQ(told, logged);
      EXPECT_THAT(observer->Messages(), SizeIs(told.size())) << "a snapshot in place of events";
    }
  }

  static void ExpectToldSeatsWereGranted(const Testimony& testimony,
                                         const std::vector<EventRow>& events) {
    std::set<Testimony::Seat> granted;
    for (const EventRow& event : events) {
      if (event.type == v1::Event::TYPE_ELECTED) {
        granted.insert({event.election, event.term, event.candidate});
      }
    }
    for (const auto& seat : testimony.seats) {
      EXPECT_TRUE(granted.contains(seat))
          << seat.election << " " << seat.term << " " << seat.candidate;
    }
  }

  static void ExpectChangesWereRecordedOnce(const Testimony& testimony,
                                            const std::vector<ChangeRow>& changes) {
    std::map<std::string, int> recorded;
    for (const ChangeRow& change : changes) ++recorded[change.reason];
    for (const auto& [reason, change] : testimony.changes) {
      const int times = recorded.contains(reason) ? recorded.at(reason) : 0;
      switch (change) {
        case Testimony::Change::kMade: EXPECT_EQ(times, 1) << reason; break;
        case Testimony::Change::kPossible: EXPECT_LE(times, 1) << reason; break;
        case Testimony::Change::kNone: EXPECT_EQ(times, 0) << reason; break;
      }
      recorded.erase(reason);
    }
    EXPECT_THAT(recorded, IsEmpty()) << "nobody asked for it";
  }

  void ExpectReplicasAgree() {
    for (const std::string& election : elections_) {
      SCOPED_TRACE(election);
      EXPECT_EQ(Leader(a_, election).ShortDebugString(), Leader(b_, election).ShortDebugString());
      EXPECT_EQ(Texts(ListTerms(a_, election)), Texts(ListTerms(b_, election)));
      EXPECT_EQ(Texts(ListChanges(a_, election)), Texts(ListChanges(b_, election)));
      EXPECT_THAT(Describable(a_, election), Describable(b_, election));
    }
  }

  // The election as an operator sees it, or why it cannot be seen.
  static std::string Describable(Tenured& server, const std::string& election) {
    v1::DescribeElectionRequest request;
    request.set_election(election);
    v1::DescribeElectionResponse response;
    const auto status = TryCall(server, &AdminStub::DescribeElection, request, &response);
    return status.ok() ? response.ShortDebugString() : ReasonOf(status);
  }

  static void Print(const Testimony& testimony, const std::vector<EventRow>& events,
                    const std::vector<ChangeRow>& changes) {
    int calls = 0;
    for (const auto& [outcome, count] : testimony.outcomes) {
      std::cout << "  " << count << " " << outcome << "\n";
      calls += count;
    }
    const auto terms = std::ranges::count(events, v1::Event::TYPE_ELECTED, &EventRow::type);
    std::cout << calls << " calls, " << events.size() << " events, " << terms << " terms, "
              << changes.size() << " operators' changes, " << testimony.seats.size()
              << " seats that clients received\n";
  }

  DatabaseServer database_;
  const std::string url_ = database_.FreshDatabase("tenure");
  Tenured a_{url_};
  Tenured b_{url_};
  const std::vector<std::string> elections_ = {"e0", "e1", "e2", "e3", "e4", "e5", "e6"};
  std::vector<std::pair<std::string, std::unique_ptr<Observer>>> observers_;
};

TEST_F(AdminStormTest, ConcurrentOperatorsAndCandidatesLeaveAConsistentHistory) {
  const uint32_t seed = Given("TENURE_TEST_SEED").value_or(std::random_device{}());
  const std::chrono::seconds time(Given("TENURE_TEST_SECONDS").value_or(kSecondsByDefault));
  std::cout << "TENURE_TEST_SEED=" << seed << " TENURE_TEST_SECONDS=" << time.count() << std::endl;

  const Testimony testimony = Rage(seed, time);
  ExpectWaitingCountsAreTrue();
  for (const std::string& election : elections_) {
    if (Leader(a_, election).term() > 0)
      TryCall(a_, &AdminStub::Resume, For<v1::ResumeRequest>(election, "the end"));
  }
  EndAllSessions();
  ExpectWaitingCountsAreTrue();

  const auto events = ReadEvents(database_);
  auto changes = ReadChanges(database_);
  const auto ended_sessions = Of("", changes);
  for (const std::string& election : elections_) {
    SCOPED_TRACE(election);
    ExpectOneLeaderAtATime(Of(election, events));
    ExpectNoGrantWhilePaused(Of(election, events), Of(election, changes));
    ExpectEndsByOperators(Of(election, events), Of(election, changes), ended_sessions);
  }
  ExpectNoGrantToEndedSessions(events, ended_sessions);
  ExpectObserversToldAllOf(events);
  ExpectToldSeatsWereGranted(testimony, events);
  std::erase_if(changes, [](const ChangeRow& change) { return change.reason == "the end"; });
  ExpectChangesWereRecordedOnce(testimony, changes);
  ExpectReplicasAgree();
  EXPECT_THAT(testimony.unexpected, IsEmpty());
  Print(testimony, events, changes);
}

}  // namespace
}  // namespace tenure::testing::storm
