// Candidates that never rest, and what an observer makes of them: for tests of what goes on while
// something is restarted.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/tenured.h"

namespace tenure::testing {

// The events that an observer gets for each election: it must get every revision once, in order.
// The terms that begin rise by one. Thread-safe.
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

// Candidates that take a seat and give it up again, as fast as they can: two for each contest; and
// for each server a reader, who asks it for the leader whenever a seat was granted. Thread-safe.
class Load {
 public:
  explicit Load(const std::vector<std::unique_ptr<Tenured>>& servers, int contests = 4)
      : contests_(contests) {
    for (int i = 0; i < 2 * contests_; ++i) {
      Tenured& server = *servers[static_cast<size_t>(i) % servers.size()];
      threads_.emplace_back([this, i, &server] {
        const auto stub = Connect(server.endpoint());
        while (!stopping_) Cycle(*stub, ContestOf(i / 2), "c" + std::to_string(i));
      });
    }
    for (const auto& server : servers) AddReader(*server);
  }
  ~Load() { Stop(); }

  [[nodiscard]] static std::string ContestOf(int i) { return "contest " + std::to_string(i); }
  [[nodiscard]] int contests() const { return contests_; }
  // Waits until this number of further seats were given up.
  void WaitForCycles(int more, std::chrono::milliseconds patience = kPatience) {
    const int enough = cycles_ + more;
    EXPECT_TRUE(Eventually([&] { return cycles_ >= enough; }, patience));
  }
  void AddReader(Tenured& server) {
    threads_.emplace_back([&] { Read(server); });
  }
  // The longest time without a grant since the last call.
  [[nodiscard]] std::chrono::milliseconds TakeLongestPause() {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::exchange(longest_pause_, std::chrono::steady_clock::duration(0)));
  }
  void Stop() {
    stopping_ = true;
    granted_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  // How often each term was granted, as the candidates know.
  [[nodiscard]] std::map<std::pair<std::string, uint64_t>, int> Grants() {
    const std::lock_guard lock(mutex_);
    return grants_;
  }
  // Complaints of readers that got an earlier term than was granted before they asked.
  [[nodiscard]] std::string Complaints() {
    const std::lock_guard lock(mutex_);
    return complaints_;
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
      const auto now = std::chrono::steady_clock::now();
      longest_pause_ = std::max(longest_pause_, now - std::exchange(last_grant_, now));
      last_term_ = {election, campaigned.elected().term()};
    }
    granted_.notify_all();
    v1::ResignRequest leave;
    leave.set_session_id(campaigned.session().session_id());
    v1::ResignResponse left;
    const auto resign = [&](grpc::ClientContext& context) {
      return stub.Resign(&context, leave, &left);
    };
    while (!stopping_ && !Call(resign).ok()) continue;
    ++cycles_;
  }

  void Read(Tenured& server) {
    const auto stub = Connect(server.endpoint());
    std::pair<std::string, uint64_t> granted;
    while (!stopping_) {
      {
        std::unique_lock lock(mutex_);
        granted_.wait(lock, [&] { return stopping_ || last_term_ != granted; });
        granted = last_term_;
      }
      v1::LeaderRequest request;
      request.set_election(granted.first);
      v1::LeaderResponse response;
      const auto leader = [&](grpc::ClientContext& context) {
        return stub->Leader(&context, request, &response);
      };
      if (!Call(leader).ok() || response.term() >= granted.second) continue;
      const std::lock_guard lock(mutex_);
      complaints_ += server.endpoint() + " shows term " + std::to_string(response.term()) + " of " +
                     granted.first + " after term " + std::to_string(granted.second) + "\n";
    }
  }

  static grpc::Status Call(const std::function<grpc::Status(grpc::ClientContext&)>& call) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 3s);
    context.set_wait_for_ready(true);
    return call(context);
  }

  const int contests_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> cycles_ = 0;
  std::atomic<int> attempts_ = 0;
  std::mutex mutex_;
  std::condition_variable granted_;
  // Guarded by mutex_:
  std::map<std::pair<std::string, uint64_t>, int> grants_;
  std::pair<std::string, uint64_t> last_term_;
  std::string complaints_;
  std::chrono::steady_clock::time_point last_grant_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration longest_pause_{0};
  std::vector<std::thread> threads_;
};

// No term was granted twice, no reader was shown the past, and the observer got every
// change, up to the last one.
inline void ExpectNothingLost(Load& load, Chronicle& chronicle, Tenured& server) {
  for (const auto& [term, times] : load.Grants()) {
    EXPECT_EQ(times, 1) << term.first << " " << term.second;
  }
  for (int i = 0; i < load.contests(); ++i) {
    const std::string contest = Load::ContestOf(i);
    EXPECT_TRUE(Eventually(
        [&] { return chronicle.RevisionOf(contest) == Leader(server, contest).revision(); }));
  }
  EXPECT_EQ(chronicle.Complaints(), "");
  EXPECT_EQ(load.Complaints(), "");
}

}  // namespace tenure::testing
