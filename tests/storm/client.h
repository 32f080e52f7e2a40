// One of many clients that do at random whatever the services offer.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/administration.h"

namespace tenure::testing::storm {

// The answers that clients got, to be compared with what the database holds.
struct Testimony {
  struct Seat {
    std::string election;
    uint64_t term;
    std::string candidate;

    auto operator<=>(const Seat&) const = default;
  };
  // What an operator's call reported. Its reason identifies it.
  enum class Change { kMade, kPossible, kNone };

  std::set<Seat> seats;                   // every leadership that was answered, to any client
  std::map<std::string, Change> changes;  // by the reason that was given
  std::map<std::string, int> outcomes;    // how often each call had each outcome
  std::vector<std::string> unexpected;    // what the contract does not allow

  void Add(const Testimony& other);
};

// Used by one thread.
class Client {
 public:
  static constexpr uint32_t kBusyElections = 4;

  // REQUIRES: more elections than kBusyElections.
  Client(std::vector<Tenured*> replicas, std::vector<std::string> elections, int number,
         uint32_t seed);

  void RunUntil(std::chrono::steady_clock::time_point end);
  [[nodiscard]] const Testimony& testimony() const { return testimony_; }

 private:
  struct Act {
    int weight;
    void (Client::*run)();
  };
  static const std::vector<Act> kActs;

  void DoCampaign();
  void DoWaitingCampaign();
  void DoCancelledCampaign();
  void DoRepeatedCampaign();
  void DoSupersede();
  void DoCampaignForAll();
  void DoRenew();
  void DoProclaim();
  void DoResign();
  void DoLeave();
  void DoLook();
  void DoDescribe();
  void DoList();
  void DoAppoint();
  void DoDepose();
  void DoPause();
  void DoResume();
  void DoUpdate();
  void DoDelete();
  void DoEndSession();

  // With one of this client's sessions, or a new one.
  CampaignArguments AnyCampaign();
  void SendCampaign(const std::string& what, const CampaignArguments& arguments);
  void OnCampaign(const std::string& what, const CampaignArguments& arguments,
                  const grpc::Status& status, const v1::CampaignResponse& response);

  // One operator's call, with a reason of its own. `made` says whether it was answered as made.
  template <typename Request, typename Response, typename Made>
  void Operate(const std::string& what, AdminCall<Request, Response> call, Request request,
               Made made);
  v1::LeaderResponse ReadLeader(const std::string& election);
  // Notes what an answer said of an election; later reads may not be older.
  void Saw(const v1::Leadership& leadership);
  void Saw(const v1::Election& election);

  // Counts an outcome; false if the call failed.
  bool Check(const std::string& what, const grpc::Status& status);
  void Forget(const std::string& session, bool lost);

  uint32_t Number(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  bool Chance(uint32_t one_of) { return Number(one_of) == 0; }
  template <typename T>
  const T& AnyOf(const std::vector<T>& items) {
    return items[Number(static_cast<uint32_t>(items.size()))];
  }
  Tenured& AnyReplica() { return *AnyOf(replicas_); }
  // The last ones are asked for seldom, so that their seats are free for sets now and then.
  const std::string& AnyElection() {
    return Chance(8) ? AnyOf(elections_) : elections_[Number(kBusyElections)];
  }
  // A session of ours, and an election: where it leads, if we know of one.
  std::pair<std::string, std::string> AnySeat();
  std::string AnyRequestId();

  const std::vector<Tenured*> replicas_;
  const std::vector<std::string> elections_;
  const std::string candidate_;
  std::mt19937 random_;
  std::vector<std::string> sessions_;         // that may be alive
  std::map<std::string, std::string> seats_;  // by election: our session that led it
  std::string lost_session_;                  // the last that ended against our will
  std::map<std::string, uint64_t> latest_terms_;
  int operations_ = 0;
  Testimony testimony_;
};

}  // namespace tenure::testing::storm
