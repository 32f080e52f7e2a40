// Fixture for tests of a session: what it sends, and how the service answers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "client/cpp/machine/client_session.h"
#include "client/cpp/machine/client_testing.h"
#include "google/rpc/error_details.pb.h"
#include "proto/time.h"

namespace tenure {

using namespace std::chrono_literals;

inline grpc::Status Failure(grpc::StatusCode code, const std::string& reason,
                            const std::map<std::string, std::string>& metadata = {}) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.mutable_metadata()->insert(metadata.begin(), metadata.end());
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  return {code, reason, details.SerializeAsString()};
}
inline const grpc::Status kUnreachable = {grpc::StatusCode::UNAVAILABLE, "connection refused"};

inline v1::Leadership Seat7(const std::string& election, uint64_t term = 7) {
  v1::Leadership leadership;
  leadership.set_election(election);
  leadership.set_term(term);
  return leadership;
}

// Leases are 9 s: the session renews every 3 s, and considers a replica that does not answer within
// 1.5 s as hanging.
class ClientSessionTest : public ::testing::Test {
 protected:
  // What the last Decide sent, each effect in a few words.
  std::vector<std::string> Decide() {
    std::vector<std::string> texts;
    for (const Effect& effect : session_.Decide(now_)) {
      texts.push_back(std::visit([this](const auto& what) { return Sent(what); }, effect));
    }
    // A loop that waits until the wake-up time does not spin.
    EXPECT_GT(session_.NextWake(), now_);
    for (uint64_t seat = 1; seat <= 3; ++seat) CheckBelief(seat);
    return texts;
  }
  // No belief outlives its deadline, or a resignation.
  void CheckBelief(uint64_t seat) {
    if (session_.BelievedUntil(seat) == Lease::Time{}) return;
    EXPECT_TRUE(Believes(seat)) << "seat " << seat << " is believed in after its deadline";
    const bool given_up = resign_.has_term() && resign_.term() == session_.TermOf(seat);
    EXPECT_FALSE(given_up) << "seat " << seat << " is believed in and resigned";
  }
  std::string Sent(const SendCampaign& send) {
    calls_.push_back(send.call);
    campaign_ = send.request;
    std::string names = send.request.election();
    for (const std::string& name : send.request.elections()) {
      names += (names.empty() ? "" : "+") + name;
    }
    return "campaign " + names;
  }
  std::string Sent(const SendResign& send) {
    calls_.push_back(send.call);
    resign_ = send.request;
    return "resign " + send.request.election();
  }
  static std::string Sent(const CancelCall&) { return "cancel"; }
  std::string Sent(const OpenStream& open) {
    stream_ = open.stream;
    return "open";
  }
  std::string Sent(const SendRenewal& renewal) {
    EXPECT_EQ(renewal.stream, stream_);
    sequence_ = renewal.request.sequence();
    return "renew";
  }
  static std::string Sent(const CloseStream&) { return "close"; }
  static std::string Sent(const UseAnotherReplica& move) {
    return move.silent ? "another replica for this silent one" : "another replica";
  }

  // Answers the oldest unanswered call.
  uint64_t TakeCall() {
    const uint64_t call = calls_.front();
    calls_.erase(calls_.begin());
    return call;
  }
  v1::CampaignResponse Answer() const {
    v1::CampaignResponse response;
    response.mutable_session()->set_session_id("s1");
    *response.mutable_session()->mutable_lease_ttl() = ToProto(9s);
    return response;
  }
  void AnswerStanding() {
    auto response = Answer();
    response.mutable_standing()->set_position(1);
    session_.OnCampaignDone(TakeCall(), grpc::Status::OK, response, now_);
  }
  void AnswerElected(const std::string& election) {
    auto response = Answer();
    *response.mutable_elected() = Seat7(election);
    session_.OnCampaignDone(TakeCall(), grpc::Status::OK, response, now_);
  }
  void AnswerAllElected(uint64_t term = 7) {
    auto response = Answer();
    for (const std::string& election : campaign_.elections()) {
      *response.mutable_all_elected()->add_leaderships() = Seat7(election, term);
    }
    session_.OnCampaignDone(TakeCall(), grpc::Status::OK, response, now_);
  }
  void AnswerBlocked(const std::string& election) {
    auto response = Answer();
    response.mutable_blocked()->add_elections(election);
    session_.OnCampaignDone(TakeCall(), grpc::Status::OK, response, now_);
  }
  void FailCampaign(const grpc::Status& status) {
    session_.OnCampaignDone(TakeCall(), status, {}, now_);
  }
  void AnswerResign(const grpc::Status& status = grpc::Status::OK) {
    session_.OnResignDone(TakeCall(), status, now_);
  }
  void AnswerRenewal(const std::vector<v1::Leadership>& seats = {}, bool more = false) {
    v1::KeepAliveResponse response;
    response.mutable_renewal()->set_more(more);
    response.mutable_renewal()->set_sequence(sequence_);
    auto& session = *response.mutable_renewal()->add_sessions();
    session.set_session_id("s1");
    *session.mutable_lease_ttl() = ToProto(9s);
    session.mutable_seats()->Add(seats.begin(), seats.end());
    session_.OnStreamMessage(stream_, response, now_);
  }
  void EndSession(v1::Cause cause) {
    v1::KeepAliveResponse response;
    response.mutable_session_ended()->set_cause(cause);
    session_.OnStreamMessage(stream_, response, now_);
  }
  void NoticeElected(const v1::Leadership& seat) {
    v1::KeepAliveResponse response;
    response.mutable_notice()->set_election(seat.election());
    *response.mutable_notice()->mutable_elected() = seat;
    session_.OnStreamMessage(stream_, response, now_);
  }
  void NoticeLost(const std::string& election, uint64_t term, v1::Cause cause) {
    v1::KeepAliveResponse response;
    response.mutable_notice()->set_election(election);
    response.mutable_notice()->mutable_lost()->set_term(term);
    response.mutable_notice()->mutable_lost()->set_cause(cause);
    session_.OnStreamMessage(stream_, response, now_);
  }

  void AskToStepDown(const std::string& election, uint64_t term, const std::string& successor) {
    v1::KeepAliveResponse response;
    response.mutable_notice()->set_election(election);
    response.mutable_notice()->mutable_step_down()->set_term(term);
    response.mutable_notice()->mutable_step_down()->set_successor(successor);
    session_.OnStreamMessage(stream_, response, now_);
  }

  // Queues for `election` in an open session with an open stream.
  void Stand(const std::string& election = "orders") {
    session_.Add(1, {election, "", 0, false, std::nullopt});
    (void)Decide();
    AnswerStanding();
    (void)Decide();
    AnswerRenewal();
    (void)session_.TakeNews();
  }
  void Lead(const std::string& election = "orders") {
    Stand(election);
    NoticeElected(Seat7(election));
    (void)session_.TakeNews();
    (void)Decide();
  }
  [[nodiscard]] bool Believes(uint64_t seat = 1) const {
    return now_ < session_.BelievedUntil(seat);
  }
  std::vector<std::string> News() {
    std::vector<std::string> texts;
    for (const auto& [seat, event] : session_.TakeNews()) {
      const std::string number = std::to_string(seat);
      if (std::holds_alternative<Elected>(event)) texts.push_back(number + " elected");
      if (const auto* lost = std::get_if<Lost>(&event)) {
        texts.push_back(number + " lost " + v1::Cause_Name(lost->cause).substr(6));
      }
      if (std::holds_alternative<SetBlocked>(event)) texts.push_back(number + " blocked");
      if (std::holds_alternative<HandoverAsked>(event)) texts.push_back(number + " hand over");
      if (std::holds_alternative<StopWork>(event)) texts.push_back(number + " stop work");
      if (std::holds_alternative<Refused>(event)) texts.push_back(number + " refused");
    }
    return texts;
  }

  ClientSession session_{{"a", 9s, false}, 1};
  Lease::Time now_ = kStart;
  std::vector<uint64_t> calls_;
  v1::CampaignRequest campaign_;
  v1::ResignRequest resign_;
  uint64_t stream_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace tenure
