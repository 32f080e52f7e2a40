#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "replicas.h"
#include "streams.h"

// Stands for one election. Run makes all decisions, one after the other; of one thread.
class Candidate {
 public:
  Candidate(std::string election, std::string name, Replicas replicas, nanoseconds ttl);

  // Comes back when it is to stop, or with an error that trying again would not mend.
  grpc::Status Run(std::stop_token stop);

 private:
  using Moment = LeaseClock::time_point;
  using Term = std::optional<uint64_t>;

  void NewSession(const std::string& previous);
  void AwaitMessage(std::stop_token stop);
  Moment Due() const;
  void Work();
  void StopWork(const std::string& event, const std::string& what, const std::string& why);
  void Seat(uint64_t term);
  grpc::Status Campaign();
  bool Resign(const std::string& election);
  void Leave();
  void OpenStream();
  void CloseStream();
  void Renew();
  void TakeIn(const pb::KeepAliveResponse& message);
  void TakeInNotice(const pb::SeatNotice& notice);
  void TakeInRenewal(const pb::Renewal& renewal);
  void SessionEnded(pb::Cause cause);

  const std::string election_;
  const std::string name_;
  const nanoseconds ttl_;
  Replicas replicas_;

  std::string session_;
  std::string previous_;
  std::string request_id_;
  nanoseconds lease_;
  Moment campaign_at_;

  Term granted_;  // the term that the service says we hold
  Term term_;     // the one that we believe in, and that only before `until_`
  Moment until_;
  Term over_;  // the last one in which our belief has ended: it never comes back
  Moment work_at_;

  std::unique_ptr<KeepAliveStream> stream_;
  Moment open_at_;
  Moment renew_at_;
  Term believed_at_open_;
  uint64_t sequence_ = 0;
  std::map<uint64_t, Moment> sent_at_;  // of the renewals that are not answered
};
