// What calls do in a replica, on top of its engine: the rules of server/campaign_call.cc,
// keep_alive_call.cc and election_service.cc, without gRPC.
//
// Each runs in the replica and answers through `reply`, which leads back to the client. A call is
// told when its client has gone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/engine.h"
#include "tests/sim/replica.h"
#include "tests/sim/world.h"

namespace tenure::sim {

template <typename T>
using Respond = std::function<void(Result<T>)>;

// A Campaign call, answered.
struct Stood {
  Session session;
  std::optional<Leadership> elected;  // or else it waits
};

struct CampaignRequest {
  Campaign campaign;             // its attempt is made by the replica
  std::optional<Duration> wait;  // nothing: until the timeout
  std::optional<Duration> timeout;
};

// One Campaign call, parked while it waits.
class ParkedCampaign final : public Resident, public std::enable_shared_from_this<ParkedCampaign> {
 public:
  ParkedCampaign(World& world, Engine& engine, CampaignRequest request, Respond<Stood> respond);

  void Start();
  void Cancel();

 private:
  enum class State { kSubmitted, kWaiting, kFinished };

  void HearEvent(const Event& event) override;
  void HearSessionEnded(const Session& session) override;
  void At(SteadyTime when, std::function<void(ParkedCampaign&)> task);
  void OnAnswer(Result<Answer> result);
  [[nodiscard]] bool FinishIfElected();
  [[nodiscard]] bool FinishIfNotWaiting(const Place& place);
  void AnswerStanding();
  void PlanToTend();
  void Tend();
  void Verify();
  void TakeBack();
  void Finish(Result<Stood> result);

  World& world_;
  Engine& engine_;
  Campaign campaign_;
  const PlaceKey place_;
  const std::optional<Duration> wait_;
  const std::optional<Duration> timeout_;
  const Respond<Stood> respond_;
  std::optional<SteadyTime> give_up_waiting_at_;
  State state_ = State::kSubmitted;
  bool cancelled_ = false;
  std::optional<Error> stop_waiting_;
  Session session_;
  Term term_when_standing_;
  std::optional<Event> latest_election_;
};

// What a KeepAlive stream tells its client.
struct StreamMessage {
  // The answer to a renewal.
  uint64_t sequence = 0;
  std::optional<Result<Session>> renewed;
  std::vector<Leadership> seats;  // with the first answer on a stream
  // Or else a notice: this term has ended, or its leader is asked to make way.
  std::optional<Event> notice;
  // Or else: this session has ended.
  std::optional<Session> ended;
};

// One KeepAlive stream, for one session.
class KeepAliveStream final : public Resident,
                              public std::enable_shared_from_this<KeepAliveStream> {
 public:
  KeepAliveStream(Engine& engine, const SessionId& session, std::function<void(StreamMessage)> send,
                  std::function<void()> broken)
      : engine_(engine), session_(session), send_(std::move(send)), broken_(std::move(broken)) {}

  // One request at a time is answered.
  void OnRequest(uint64_t sequence);
  void Close() { finished = true; }
  void Abort() override { broken_(); }

 private:
  void HearEvent(const Event& event) override;
  void HearSessionEnded(const Session& session) override;
  void OnRenewed(uint64_t sequence, Result<Session> renewed);
  void Answer(StreamMessage message);

  Engine& engine_;
  const SessionId session_;
  const std::function<void(StreamMessage)> send_;
  const std::function<void()> broken_;
  bool first_ = true;
  std::vector<uint64_t> unread_;
  bool answering_ = false;
};

}  // namespace tenure::sim
