// A client without the library: stands, waits in the call, believes once a renewal has confirmed
// its seat, holds it on a stream, stops when its lease expires, and resigns. Then it begins again.
#pragma once

#include <map>
#include <memory>

#include "tests/sim/client.h"
#include "tests/sim/stream.h"

namespace tenure::sim {

class Holder final : public Client {
 public:
  using Client::Client;

  void Start() override { Rest(); }
  [[nodiscard]] std::optional<Term> BelievedTerm(const ElectionName& election) const override;
  [[nodiscard]] bool Holds() const override { return holding_ && confirmed_; }

 private:
  void Rest();
  [[nodiscard]] int32_t ChoosePriority();
  void Ask();
  void OnStood(const Result<calls::CampaignReply>& stood);
  void GiveUp();
  void Hold(const Leadership& leadership);
  void Tick();
  void OpenStream();
  void CloseStream();
  void ReopenLater();
  void Renew();
  void Hedge();
  void Write();
  void OnMessage(const calls::KeepAliveMessage& message);
  void OnRenewal(const calls::Renewal& renewal, bool first);
  void OnNotice(const Event& notice);
  void MakeWay(const std::string& successor);
  void Lose(const std::string& why);
  void GiveUpSeat();
  void AskForNextTerm();
  void Leave();
  void ResignSeat();

  ElectionName election_;
  std::shared_ptr<Call> call_;
  uint64_t calls_ = 0;
  bool had_its_turn_ = false;  // since the trouble ended

  bool holding_ = false;
  bool confirmed_ = false;
  bool obeys_ = false;  // makes way when it is asked to
  // When its lease expires it waits, as the libraries do until they have reported the loss, and
  // goes on in the same term once a renewal is answered.
  bool suspends_ = false;
  Term term_;
  Lease lease_;
  std::shared_ptr<KeepAliveStream> stream_;
  uint64_t stream_number_ = 0;
  bool first_on_stream_ = false;
  std::shared_ptr<KeepAliveStream> hedge_;  // for one renewal
  uint64_t sequence_ = 0;
  std::map<uint64_t, Time> unanswered_;
  Time next_renewal_{};
  Time reopen_at_{};
  Time next_write_{};
  Time resign_at_{};
  uint64_t ticks_ = 0;  // only the last that was planned counts
};

}  // namespace tenure::sim
