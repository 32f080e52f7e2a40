// The clock of a real database is set while leaders renew, wait and die.
#include "tests/client/elector_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

class DatabaseClockTest : public ::testing::Test {
 protected:
  DatabaseClockTest() {
    database_.SetClock(0s);
    database_.Start();
    const std::string url = database_.FreshDatabase("tenure");
    for (auto& server : servers_) server = std::make_unique<Tenured>(url);
  }

  // Returns once every replica has noticed.
  void SetClock(std::chrono::seconds ahead) {
    database_.SetClock(ahead);
    for (const auto& server : servers_) {
      EXPECT_TRUE(Eventually([&] {
        const double offset = Metric(*server, "tenure_database_clock_offset_seconds");
        return std::abs(offset - static_cast<double>(ahead.count())) < 1;
      }));
    }
  }
  // The renewals of all sessions so far.
  [[nodiscard]] double Renewals() const {
    double renewals = 0;
    for (const auto& server : servers_) renewals += Metric(*server, "tenure_renewals_total");
    return renewals;
  }
  [[nodiscard]] Tenured& A() const { return *servers_[0]; }
  [[nodiscard]] Client NewClient(const std::string& candidate) const {
    return Client({.endpoints = A().endpoint() + "," + servers_[1]->endpoint(),
                   .candidate = candidate,
                   .lease_ttl = 3s});
  }
  [[nodiscard]] std::string LeaderOf(const std::string& election) const {
    return Leader(A(), election).leader().candidate();
  }

 private:
  static double Metric(const Tenured& server, const std::string& name) {
    const std::string page = server.Get("/metrics").second;
    return std::stod(page.substr(page.find("\n" + name + " ") + name.size() + 2));
  }

  DatabaseServer database_{DatabaseServer::Engine::kMariaDb};
  std::array<std::unique_ptr<Tenured>, 2> servers_;
};

TEST_F(DatabaseClockTest, LeadersKeepTheirSeatsWhereverTheClockIsSet) {
  constexpr int kSeats = 10;
  std::vector<Diary> leading(kSeats);
  std::vector<Diary> waiting(kSeats);
  std::vector<std::unique_ptr<Elector>> electors;
  const Client first = NewClient("first");
  const Client second = NewClient("second");
  for (size_t i = 0; i < kSeats; ++i) {
    const std::string seat = "seat " + std::to_string(i);
    electors.push_back(std::make_unique<Elector>(first, leading[i].Options(seat)));
    leading[i].WaitFor("elected 1");
    electors.push_back(std::make_unique<Elector>(second, waiting[i].Options(seat)));
  }

  for (const auto ahead : {3600s, 0s, 7s, 20s, 2s}) {
    SetClock(ahead);
    // A leader that missed its renewals would be gone by then.
    const double before = Renewals();
    EXPECT_TRUE(Eventually([&] { return Renewals() >= before + 8; }));
  }

  for (Diary& diary : leading) EXPECT_THAT(diary.Lines(), Not(Contains(StartsWith("lost"))));
  for (Diary& diary : waiting) EXPECT_THAT(diary.Lines(), Not(Contains(StartsWith("elected"))));
}

TEST_F(DatabaseClockTest, ADeadLeaderIsFollowedWhereverTheClockIsSet) {
  for (const auto ahead : {3600s, 0s}) {
    const std::string seat = "after " + std::to_string(ahead.count());
    Campaign(A(), {.election = seat, .candidate = "dead", .lease_ttl = 2s});
    Diary diary;
    const Elector waiting(NewClient("waiting"), diary.Options(seat));

    SetClock(ahead);

    diary.WaitFor("elected 2");
    EXPECT_EQ(LeaderOf(seat), "waiting");
  }
}

}  // namespace
}  // namespace tenure::testing
