// Scenario 16: the database is killed and started again under load. No term repeats, no event is
// lost, and who leads within its lease goes on to lead.
#include <atomic>
#include <thread>

#include "tenure/observer.h"
#include "tests/client/elector_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kSeats = 10;
constexpr int kContests = 4;  // each between two candidates

// What an observer is told of each election, which has to be every revision, in order, once. The
// terms that begin rise by one. Thread-safe.
class Chronicle {
 public:
  void Add(const v1::Event& event) {
    const std::lock_guard lock(mutex_);
    Story& story = stories_[event.election()];
    if (event.revision() != ++story.revision) complaints_ += Text(event) + " is out of order\n";
    if (event.type() != v1::Event::TYPE_ELECTED) return;
    if (event.leadership().term() != ++story.term) complaints_ += Text(event) + " is no new term\n";
  }
  [[nodiscard]] uint64_t RevisionOf(const std::string& election) {
    const std::lock_guard lock(mutex_);
    return stories_[election].revision;
  }
  [[nodiscard]] std::string Complaints() {
    const std::lock_guard lock(mutex_);
    return complaints_;
  }

 private:
  struct Story {
    uint64_t revision = 0;
    uint64_t term = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Story> stories_;
  std::string complaints_;
};

// Candidates that take a seat and give it up again, as fast as they can. Thread-safe.
class Load {
 public:
  Load(Tenured& a, Tenured& b) {
    for (int i = 0; i < 2 * kContests; ++i) {
      threads_.emplace_back([this, i, &server = i % 2 == 0 ? a : b] {
        const auto stub = Connect(server.endpoint());
        while (!stopping_) Cycle(*stub, ContestOf(i / 2), "c" + std::to_string(i));
      });
    }
  }
  ~Load() { Stop(); }

  [[nodiscard]] static std::string ContestOf(int i) { return "contest " + std::to_string(i); }
  [[nodiscard]] int cycles() const { return cycles_; }
  void Stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  // How often each term was granted, as the candidates were told.
  [[nodiscard]] std::map<std::pair<std::string, uint64_t>, int> Grants() {
    const std::lock_guard lock(mutex_);
    return grants_;
  }

 private:
  void Cycle(v1::ElectionService::Stub& stub, const std::string& election,
             const std::string& candidate) {
    v1::CampaignRequest request =
        ToRequest({.election = election,
                   .candidate = candidate,
                   .wait = 1s,
                   .lease_ttl = 5s,
                   .request_id = "request number " + std::to_string(++attempts_)});
    v1::CampaignResponse campaigned;
    const auto campaign = [&](grpc::ClientContext& context) {
      return stub.Campaign(&context, request, &campaigned);
    };
    // Sent again as it is: what was granted to a call whose answer was lost is granted once.
    while (!campaigned.has_elected()) {
      const grpc::Status status = Call(campaign);
      if (stopping_ || ReasonOf(status) == "SESSION_ENDED") return;
      if (!status.ok()) continue;
      request.set_session_id(campaigned.session().session_id());
      request.clear_request_id();
    }
    {
      const std::lock_guard lock(mutex_);
      ++grants_[{election, campaigned.elected().term()}];
    }
    v1::ResignRequest leave;
    leave.set_session_id(campaigned.session().session_id());
    v1::ResignResponse left;
    const auto resign = [&](grpc::ClientContext& context) {
      return stub.Resign(&context, leave, &left);
    };
    while (!stopping_ && !Call(resign).ok()) continue;
    ++cycles_;
  }

  static grpc::Status Call(const std::function<grpc::Status(grpc::ClientContext&)>& call) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 3s);
    context.set_wait_for_ready(true);
    return call(context);
  }

  std::atomic<bool> stopping_ = false;
  std::atomic<int> cycles_ = 0;
  std::atomic<int> attempts_ = 0;
  std::mutex mutex_;
  std::map<std::pair<std::string, uint64_t>, int> grants_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

class DatabaseRestartTest : public ElectorTest {};

INSTANTIATE_TEST_SUITE_P(Stores, DatabaseRestartTest, ::testing::Values(StoreKind::kMariaDb),
                         StoreKindName);

TEST_P(DatabaseRestartTest, UnderLoadRepeatsNoTermLosesNoEventAndCostsNoSeat) {
  Chronicle chronicle;
  ObserverOptions everything{
      .endpoints = BothEndpoints(), .names = {""}, .prefix = true, .from_revision = 1};
  everything.on_event = [&](const v1::Event& event) { chronicle.Add(event); };
  const tenure::Observer observer(everything);
  const Client client = NewClient("holder", 30s);
  std::vector<Diary> diaries(kSeats);
  std::vector<std::unique_ptr<Elector>> electors;
  for (int i = 0; i < kSeats; ++i) {
    electors.push_back(std::make_unique<Elector>(
        client, diaries[static_cast<size_t>(i)].Options("seat " + std::to_string(i))));
  }
  for (Diary& diary : diaries) diary.WaitFor("elected 1");
  Load load(A(), B());
  const auto wait_for_cycles = [&](int more) {
    const int enough = load.cycles() + more;
    EXPECT_TRUE(Eventually([&] { return load.cycles() >= enough; }));
  };

  for (int restart = 0; restart < 3; ++restart) {
    wait_for_cycles(100);
    Database().Kill();
    EXPECT_TRUE(Eventually([&] { return A().Get("/readyz").first == 503; }));
    for (const auto& elector : electors) EXPECT_TRUE(elector->IsLeader());
    Database().Start();
    wait_for_cycles(100);
  }
  load.Stop();

  for (const auto& elector : electors) EXPECT_TRUE(elector->IsLeader());
  for (Diary& diary : diaries) EXPECT_THAT(diary.Lines(), Not(Contains(StartsWith("lost"))));
  for (const auto& [term, times] : load.Grants())
    EXPECT_EQ(times, 1) << term.first << " " << term.second;
  for (int i = 0; i < kContests; ++i) {
    const std::string contest = Load::ContestOf(i);
    EXPECT_TRUE(Eventually(
        [&] { return chronicle.RevisionOf(contest) == Leader(A(), contest).revision(); }));
  }
  EXPECT_EQ(chronicle.Complaints(), "");
}

}  // namespace
}  // namespace tenure::testing
