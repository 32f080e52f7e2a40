// One session and its electors' seats, as their process sees them: which calls to make, on which
// stream to renew, and what the answers mean. Pure: no I/O, no clock, no threads; `now` is an
// argument, and randomness comes from a seed.
//
// The session is opened by the first campaign, and renewed on one KeepAlive stream however many
// elections there are. A place in a queue needs no open call: the stream reports a grant. So a
// broken connection loses nothing while the lease lasts. A set of elections has no place in any
// queue: calls that wait for a moment campaign for it until all its seats are free. Its seats lead
// together, once a renewal has confirmed that all are held; if one stops leading, so do the others.
//
// Usage: report what happened, then call Decide and carry out the effects. For one thread.
#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "client/cpp/machine/seat.h"
#include "client/cpp/machine/seat_book.h"
#include "core/lease.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

// What to do, in this order. Numbers of calls and streams are never reused.
struct SendCampaign {
  uint64_t call;
  v1::CampaignRequest request;
  Duration patience;  // the deadline of the call
};
struct SendResign {
  uint64_t call;
  v1::ResignRequest request;
  Duration patience;
};
// The answer is no longer needed. It still comes, perhaps as cancelled.
struct CancelCall {
  uint64_t call;
};
struct OpenStream {
  uint64_t stream;
};
struct SendRenewal {
  uint64_t stream;
  v1::KeepAliveRequest request;
};
struct CloseStream {
  uint64_t stream;
};
// The replica in use did not answer as it should: use another one from now on.
struct UseAnotherReplica {
  bool silent;  // it did not answer at all
};
using Effect = std::variant<SendCampaign, SendResign, CancelCall, OpenStream, SendRenewal,
                            CloseStream, UseAnotherReplica>;

struct ClientSessionOptions {
  std::string candidate;
  std::optional<Duration> lease_ttl;  // nothing: the default of the election or the server
  bool supersede = false;
};

class ClientSession {
 public:
  using Time = Lease::Time;
  using SeatNumber = SeatBook::SeatNumber;  // from 1

  ClientSession(ClientSessionOptions options, uint64_t seed)
      : options_(std::move(options)), random_(seed), request_id_(NewRequestId()) {}

  // What this process wants and does. Seats that are gone, or were never added, are ignored.

  // Numbers are never reused. If an earlier seat has not yet left the election, this one starts
  // when that is gone.
  void Add(SeatNumber number, SeatOptions options) { AddSet(number, {std::move(options)}); }
  // Seats that are won together or not at all, numbered from `first` on. Calls for the first seat
  // apply to the whole set.
  void AddSet(SeatNumber first, std::vector<SeatOptions> options) {
    seats_.AddSet(first, std::move(options));
  }
  void Proclaim(SeatNumber number, std::string value, Time now);
  void Leave(SeatNumber number, Time now);
  void Abandon(SeatNumber number, Time now);
  // A reader has acted on the end of a belief that this session has not noticed yet.
  void BeliefEnded(SeatNumber number, Time now);
  void WorkEnded(SeatNumber number, Time now);
  // Abandons all seats and ends the session. With `insist_until`, half of the time is for the
  // resignations, and the rest for ending the session, which also frees the seats. Without it, both
  // are tried a few times, at once.
  void End(Time now, std::optional<Time> insist_until = std::nullopt);
  // Nothing is left to do after End.
  [[nodiscard]] bool Ended() const { return ended_; }
  // OK if the service has ended the session, or there is none; else its last answer.
  [[nodiscard]] const grpc::Status& end_status() const { return end_status_; }

  // What the service answers.

  void OnCampaignDone(uint64_t call, const grpc::Status& status,
                      const v1::CampaignResponse& response, Time now);
  void OnResignDone(uint64_t call, const grpc::Status& status, Time now);
  void OnStreamMessage(uint64_t stream, const v1::KeepAliveResponse& response, Time now);
  // `status` says why, if the service has said so.
  void OnStreamClosed(uint64_t stream, Time now, const grpc::Status& status = grpc::Status::OK);

  // Most endpoints belong to another service now. That ends the session; terms of the old service
  // say nothing about those of the new one.
  void OnServiceReplaced(Time now);

  // What to do now.
  [[nodiscard]] std::vector<Effect> Decide(Time now);
  // When to Decide again if nothing happens before.
  [[nodiscard]] Time NextWake() const;

  [[nodiscard]] const std::string& id() const { return session_id_; }
  [[nodiscard]] bool Streams() const { return stream_ != 0; }
  // To a call or a renewal.
  [[nodiscard]] bool AwaitsAnswer() const { return !calls_.empty() || renewal_sent_; }

  // News for each seat since the last call.
  struct News {
    SeatNumber seat;
    SeatEvent event;
  };
  [[nodiscard]] std::vector<News> TakeNews();
  // The renewals that were answered since the last call.
  struct Renewal {
    Time::duration round_trip;
    Time::duration margin;  // time that was left until the deadline when the answer came
  };
  [[nodiscard]] std::vector<Renewal> TakeRenewals() { return std::exchange(renewals_, {}); }
  // The time until which this process may act as the leader of the whole set; Time{} if it does not
  // lead.
  [[nodiscard]] Time BelievedUntil(SeatNumber number) const {
    return seats_.BelievedUntil(number, lease_);
  }
  [[nodiscard]] uint64_t TermOf(SeatNumber number);
  // Removes the seats that have nothing left to do, and returns their numbers.
  [[nodiscard]] std::vector<SeatNumber> TakeGone() { return seats_.TakeGone(); }

 private:
  // Seats from this number on are the session's own; nobody else knows them.
  static constexpr SeatNumber kFirstStray = SeatNumber{1} << 63;

  using Entry = SeatBook::Entry;
  struct Call {
    SeatNumber seat;
    std::string session_id;
    uint64_t term;  // of the resignation
    uint64_t replica;
    Time sent_at;
    bool campaign = false;  // for all seats of the set
    Duration wait{0};
    bool cancelled = false;
  };
  using Effects = std::vector<Effect>;

  void Pass(Time now);
  // An abandoned set does not wait for its waiting call.
  void DecideToCancel(Effects& effects);
  void DecideStream(Time now, Effects& effects);
  void DecideSeat(SeatNumber number, Entry& entry, Time now, Effects& effects);
  void DecideEnd(Time now, Effects& effects);
  // When the next call for this seat is due; never, while none is allowed.
  [[nodiscard]] Time CallAt(SeatNumber number, const Entry& entry) const;
  void Renew(Time now, Effects& effects);
  // The stream is no longer useful.
  void DropStream();
  // A call or stream on this replica failed, but should succeed on another.
  void ReplicaFailed(uint64_t replica, bool silent);

  void OnCampaignAnswered(const Call& call, const v1::CampaignResponse& response, Time now);
  void OnOpened(const v1::Session& session);
  void SessionOver(v1::Cause cause, Time now);
  // Whether the session has ended because nobody can renew it: only replicas of other services are
  // left, and its lease has expired.
  bool OutlivedItsService(const grpc::Status& status, Time now);
  void SeatElected(const v1::Leadership& leadership, Time now);
  // A seat of this session in an election where this process does not stand. It will be given up.
  void AddStray(const std::string& election, Time now);
  void TakeIn(const v1::SeatNotice& notice, Time now);
  void TakeIn(const v1::Renewal& renewal, Time now);
  void Renewed(const v1::SessionRenewal& session, Time sent_at, Time now);

  [[nodiscard]] std::optional<Call> TakeCall(uint64_t call);
  // For the set of one elector.
  [[nodiscard]] v1::CampaignRequest Request(const std::vector<Entry*>& set, Duration wait) const;
  [[nodiscard]] Duration AnswerPatience() const;
  [[nodiscard]] Time Within(std::chrono::milliseconds least, std::chrono::milliseconds most,
                            Time now);
  [[nodiscard]] Time Backoff(Time now);
  [[nodiscard]] std::string NewRequestId();

  const ClientSessionOptions options_;
  std::mt19937_64 random_;

  std::string session_id_;  // empty: none is open
  std::string request_id_;
  std::string previous_session_id_;
  Lease lease_;
  SeatBook seats_;
  std::map<uint64_t, Call> calls_;
  uint64_t last_number_ = 0;  // of calls and streams
  SeatNumber next_stray_ = kFirstStray;

  uint64_t replica_ = 0;  // rises with each change of replica
  std::optional<UseAnotherReplica> move_on_;
  int failures_ = 0;  // of replicas, in a row

  uint64_t stream_ = 0;  // 0: none is open
  uint64_t stream_replica_ = 0;
  uint64_t dropped_stream_ = 0;  // to be closed
  Time open_at_{};
  Time next_renewal_ = Time::max();
  uint64_t sequence_ = 0;             // of the last renewal
  uint64_t answered_ = 0;             // the latest answered one
  std::optional<Time> renewal_sent_;  // the renewal that awaits an answer
  std::vector<Renewal> renewals_;
  bool seats_listed_ = false;  // by the answer to the stream's first renewal
  // The seats in the parts of that answer that have arrived.
  google::protobuf::RepeatedPtrField<v1::Leadership> list_;

  bool ending_ = false;
  bool ended_ = false;
  std::optional<Time> insist_until_;
  Time resign_until_{};
  Time end_at_{};  // the next try
  grpc::Status end_status_;
  int end_tries_ = 0;
};

}  // namespace tenure
