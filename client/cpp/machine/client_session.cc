#include "client/cpp/machine/client_session.h"

#include <algorithm>

#include "client/cpp/machine/call_error.h"
#include "proto/time.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr size_t kCallsMax = 64;  // under way at a time
constexpr int kEndTriesMax = 3;
constexpr auto kBackoffMin = 20ms;
constexpr auto kBackoffMax = 500ms;
// How late a lost place in a queue may be noticed, if an operator removed it.
constexpr auto kCheckMin = 20s;
constexpr auto kCheckMax = 40s;
// How long a campaign for a set waits for its seats. It notices a hanging replica that much later
// than other calls.
constexpr auto kSetWait = 500ms;
// How long a replica may take to answer before another one is asked.
constexpr Duration kAnswerPatienceMin = 100ms;
constexpr Duration kAnswerPatienceMax = 3s;

constexpr uint64_t kTheSession = 0;  // in place of a seat: the call is about the whole session

v1::Cause CauseOf(const grpc::Status& status) {
  v1::Cause cause = v1::CAUSE_EXPIRED;  // a session that is not known was forgotten since
  (void)v1::Cause_Parse("CAUSE_" + MetadataOf(status, "cause"), &cause);
  return cause;
}

bool IsSilence(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

grpc::Status SupersededStatus(const std::string& candidate) {
  return {grpc::StatusCode::ABORTED, "superseded by a newer session of " + candidate};
}

}  // namespace

void ClientSession::Proclaim(SeatNumber number, std::string value, Time now) {
  for (Entry* entry : seats_.Together(number)) entry->seat.Proclaim(value, now);
}

void ClientSession::Leave(SeatNumber number, Time now) {
  Pass(now);
  for (Entry* entry : seats_.Together(number)) entry->seat.Leave(now);
}

void ClientSession::Abandon(SeatNumber number, Time now) {
  for (Entry* entry : seats_.Together(number)) entry->seat.Abandon(now);
}

void ClientSession::BeliefEnded(SeatNumber number, Time now) {
  for (Entry* entry : seats_.Together(number)) entry->seat.BeliefEnded(now);
}

void ClientSession::WorkEnded(SeatNumber number, Time now) {
  Pass(now);
  for (Entry* entry : seats_.Together(number)) entry->seat.WorkEnded(now);
}

void ClientSession::End(Time now, std::optional<Time> insist_until) {
  ending_ = true;
  insist_until_ = insist_until;
  resign_until_ = now + (insist_until.value_or(now) - now) / 2;
  end_tries_ = 0;
  for (auto& [number, entry] : seats_.all()) entry.seat.Abandon(now);
}

void ClientSession::OnCampaignDone(uint64_t number, const grpc::Status& status,
                                   const v1::CampaignResponse& response, Time now) {
  Pass(now);
  const auto call = TakeCall(number);
  if (!call || call->session_id != session_id_) return;  // from a session that has ended
  if (status.ok()) {
    failures_ = 0;
    if (session_id_.empty()) OnOpened(response.session());
    lease_.Renewed(call->sent_at, FromProto(response.session().lease_ttl()).value_or(Duration(0)));
  }
  const std::vector<Entry*> set = seats_.Together(call->seat);
  if (set.empty()) return;
  if (call->cancelled && status.error_code() == grpc::StatusCode::CANCELLED) return;
  const auto unanswered = [&](Time retry_at) {
    for (Entry* entry : set) entry->seat.Unanswered(status, retry_at);
  };
  if (status.ok()) return OnCampaignAnswered(*call, response, now);
  if (IsSessionGone(status)) {
    if (!session_id_.empty()) return SessionOver(CauseOf(status), now);
    request_id_ = NewRequestId();  // it had opened a session whose lease has already expired
    return unanswered(Backoff(now));
  }
  if (OutlivedItsService(status, now)) return;
  if (IsTransient(status)) {
    ReplicaFailed(call->replica, IsSilence(status));
    return unanswered(std::max(Backoff(now), now + RetryDelayOf(status)));
  }
  seats_.SetOf(*set.front()).unsettled = false;
  if (IsRefusedForNow(status)) return unanswered(Within(kRefusedForNowMin, kRefusedForNowMax, now));
  for (Entry* entry : set) entry->seat.OnRefused(status, now);
}

void ClientSession::OnCampaignAnswered(const Call& call, const v1::CampaignResponse& response,
                                       Time now) {
  const std::vector<Entry*> set = seats_.Together(call.seat);
  seats_.SetOf(*set.front()).unsettled = false;
  seats_.SetOf(*set.front()).tried = true;
  if (response.has_elected()) {
    SeatElected(response.elected(), now);
    return set.front()->seat.OnCampaignElected(response.elected().term(), now);
  }
  for (const auto& seat : response.all_elected().leaderships()) SeatElected(seat, now);
  if (response.has_standing()) {
    return set.front()->seat.OnStanding(response.standing(), now,
                                        Within(kCheckMin, kCheckMax, now));
  }
  if (!response.has_blocked()) return;
  const auto& names = response.blocked().elections();
  for (Entry* entry : set) {
    entry->seat.OnBlocked({names.begin(), names.end()}, now, call.sent_at + call.wait);
  }
}

void ClientSession::OnResignDone(uint64_t number, const grpc::Status& status, Time now) {
  Pass(now);
  const auto call = TakeCall(number);
  if (!call || call->session_id != session_id_) return;
  const bool refused = !status.ok() && !IsSessionGone(status) && IsRefusedForNow(status);
  const bool unanswered = refused || (!status.ok() && IsTransient(status));
  if (unanswered) ReplicaFailed(call->replica, IsSilence(status));
  if (call->seat != kTheSession && OutlivedItsService(status, now)) return;
  if (call->seat == kTheSession) {
    end_status_ = IsSessionGone(status) ? grpc::Status::OK : status;
    const bool again = insist_until_ ? now < *insist_until_ : end_tries_ < kEndTriesMax;
    ended_ = !unanswered || !again || (insist_until_ && refused);
    if (insist_until_) end_at_ = Backoff(now);
    return;
  }
  Entry* const entry = seats_.Find(call->seat);
  if (entry == nullptr) return;
  Seat* const seat = &entry->seat;
  if (refused) {
    return seat->Unanswered(status, Within(kRefusedForNowMin, kRefusedForNowMax, now));
  }
  if (unanswered) return seat->Unanswered(status, Backoff(now));
  const bool stands =
      ReasonOf(status) == "STALE_TERM";  // but not in the term, or the queue, that we assumed
  if (stands && call->term == 0) {
    v1::Leadership leadership;  // the place in the queue has become the seat
    leadership.set_election(seat->options().election);
    leadership.set_term(std::strtoull(MetadataOf(status, "current_term").c_str(), nullptr, 10));
    if (leadership.term() == 0) return seat->Unanswered(status, Backoff(now));
    return seat->OnElected(leadership, now, lease_);
  }
  seat->OnResigned(call->term, stands,
                   seat->outlived_lease() ? now : now + lease_.RenewalInterval());
}

void ClientSession::OnStreamMessage(uint64_t stream, const v1::KeepAliveResponse& response,
                                    Time now) {
  Pass(now);
  if (stream != stream_) return;
  switch (response.message_case()) {
    case v1::KeepAliveResponse::kNotice: return TakeIn(response.notice(), now);
    case v1::KeepAliveResponse::kSessionEnded:
      return SessionOver(response.session_ended().cause(), now);
    case v1::KeepAliveResponse::kRenewal: return TakeIn(response.renewal(), now);
    case v1::KeepAliveResponse::MESSAGE_NOT_SET: return;
  }
}

void ClientSession::OnStreamClosed(uint64_t stream, Time now, const grpc::Status& status) {
  Pass(now);
  if (stream != stream_) return;
  ReplicaFailed(stream_replica_, false);
  if (OutlivedItsService(status, now)) return;
  stream_ = 0;
  renewal_sent_.reset();
  open_at_ = Backoff(now);
}

void ClientSession::OnServiceReplaced(Time now) {
  Pass(now);
  SessionOver(v1::CAUSE_EXPIRED, now);
  previous_session_id_.clear();
  seats_.OnServiceReplaced();
}

std::vector<Effect> ClientSession::Decide(Time now) {
  Pass(now);
  Effects effects;
  if (const auto move = std::exchange(move_on_, std::nullopt)) effects.push_back(*move);
  if (dropped_stream_ != 0) effects.push_back(CloseStream{std::exchange(dropped_stream_, 0)});
  DecideToCancel(effects);
  if (ending_) {
    DecideEnd(now, effects);
    return effects;
  }
  seats_.Settle(now, lease_, sequence_, answered_);
  DecideStream(now, effects);
  for (auto& [number, entry] : seats_.all()) DecideSeat(number, entry, now, effects);
  return effects;
}

ClientSession::Time ClientSession::NextWake() const {
  if (ending_ && resign_until_ == Time{}) {
    return calls_.empty() && !ended_ ? end_at_ : Time::max();
  }
  Time next = ending_ ? resign_until_ : Time::max();
  if (!ending_ && !session_id_.empty()) {
    if (stream_ == 0) {
      next = open_at_;
    } else {
      next = renewal_sent_ ? *renewal_sent_ + AnswerPatience() : next_renewal_;
    }
  }
  for (const auto& [number, entry] : seats_.all()) {
    next = std::min(next, entry.seat.NextWake(lease_));
    next = std::min(next, CallAt(number, entry));
  }
  return next;
}

std::vector<ClientSession::News> ClientSession::TakeNews() {
  std::vector<News> news;
  for (auto& [number, entry] : seats_.all()) {
    for (SeatEvent& event : entry.seat.TakeEvents()) {
      if (number < kFirstStray) news.push_back({number, std::move(event)});
    }
  }
  return news;
}

uint64_t ClientSession::TermOf(SeatNumber number) {
  const Entry* entry = seats_.Find(number);
  return entry == nullptr ? 0 : entry->seat.term();
}

// Time.

void ClientSession::Pass(Time now) {
  for (auto& [number, entry] : seats_.all()) entry.seat.Pass(now, lease_);
  if (stream_ != 0 && renewal_sent_ && now >= *renewal_sent_ + AnswerPatience()) {
    ReplicaFailed(stream_replica_, true);
    DropStream();
    open_at_ = Backoff(now);
  }
}

void ClientSession::DecideToCancel(Effects& effects) {
  for (auto& [number, call] : calls_) {
    if (call.wait == Duration(0) || call.cancelled) continue;
    const Entry* entry = seats_.Find(call.seat);
    if (entry == nullptr || entry->seat.need() != Seat::Need::kResign) continue;
    call.cancelled = true;
    effects.push_back(CancelCall{number});
  }
}

void ClientSession::DecideStream(Time now, Effects& effects) {
  if (session_id_.empty()) return;
  const bool due =
      stream_ != 0 && !renewal_sent_ && (now >= next_renewal_ || seats_.AnyUnconfirmed(sequence_));
  if (due && seats_.AnyInDoubt()) {
    DropStream();
    effects.push_back(CloseStream{std::exchange(dropped_stream_, 0)});
    open_at_ = now;
  } else if (due) {
    Renew(now, effects);
  }
  if (stream_ != 0 || now < open_at_) return;
  stream_ = ++last_number_;
  stream_replica_ = replica_;
  seats_listed_ = false;
  list_.Clear();
  seats_.ListAsked();
  effects.push_back(OpenStream{stream_});
  Renew(now, effects);
}

void ClientSession::DecideSeat(SeatNumber number, Entry& entry, Time now, Effects& effects) {
  Seat& seat = entry.seat;
  if (now < CallAt(number, entry)) return;
  if (session_id_.empty() && seat.need() == Seat::Need::kResign) {
    // A grant, if there was one, belongs to a session that nobody will ever know of or renew.
    request_id_ = NewRequestId();
    return seat.OnResigned(seat.term(), false, now);
  }
  const uint64_t call = ++last_number_;
  calls_[call] = {number, session_id_, seat.term(), replica_, now};
  if (seat.need() == Seat::Need::kCampaign) {
    const std::vector<Entry*> set = seats_.Together(number);
    for (Entry* asked : set) {
      asked->seat.Asked();
      asked->called = true;
    }
    const bool waits = set.size() > 1 && seats_.SetOf(entry).tried;
    const Duration wait = waits ? kSetWait : 0ms;
    seats_.SetOf(entry).unsettled = true;
    calls_[call].campaign = true;
    calls_[call].wait = wait;
    effects.push_back(SendCampaign{call, Request(set, wait), wait + AnswerPatience()});
    return;
  }
  entry.called = true;
  v1::ResignRequest request;
  request.set_session_id(session_id_);
  request.set_election(seat.options().election);
  request.set_term(seat.term());  // 0: from the queue
  effects.push_back(SendResign{call, std::move(request), AnswerPatience()});
}

// While no session is open, one call at a time: it opens the session for all of them. While it is
// being ended, nobody campaigns.
ClientSession::Time ClientSession::CallAt(SeatNumber number, const Entry& entry) const {
  if (ending_ && entry.seat.need() == Seat::Need::kCampaign) return Time::max();
  const bool may_call = calls_.size() < (session_id_.empty() ? 1 : kCallsMax);
  return may_call ? seats_.CallAt(number, entry) : Time::max();
}

void ClientSession::DecideEnd(Time now, Effects& effects) {
  if (now < resign_until_) {
    for (auto& [number, entry] : seats_.all()) DecideSeat(number, entry, now, effects);
    const bool any = std::ranges::any_of(seats_.all(), [](const auto& entry) {
      return entry.second.seat.need() == Seat::Need::kResign;
    });
    if (any) return;
  }
  resign_until_ = Time{};
  if (!calls_.empty() || now < end_at_) return;
  if (session_id_.empty()) {
    ended_ = true;
    end_status_ = grpc::Status::OK;
  }
  if (ended_) return;
  ++end_tries_;
  const uint64_t call = ++last_number_;
  calls_[call] = {kTheSession, session_id_, 0, replica_, now};
  v1::ResignRequest request;
  request.set_session_id(session_id_);
  effects.push_back(SendResign{call, std::move(request), AnswerPatience()});
}

void ClientSession::Renew(Time now, Effects& effects) {
  v1::KeepAliveRequest request;
  request.set_sequence(++sequence_);
  request.add_session_ids(session_id_);
  renewal_sent_ = now;
  effects.push_back(SendRenewal{stream_, std::move(request)});
}

void ClientSession::DropStream() {
  if (stream_ != 0) dropped_stream_ = std::exchange(stream_, 0);
  renewal_sent_.reset();
}

void ClientSession::ReplicaFailed(uint64_t replica, bool silent) {
  if (replica != replica_) return;  // no longer in use
  ++replica_;
  ++failures_;
  move_on_ = UseAnotherReplica{silent};
}

// What the service says.

void ClientSession::OnOpened(const v1::Session& session) {
  session_id_ = session.session_id();
  request_id_ = NewRequestId();  // for the next one
  previous_session_id_.clear();
}

void ClientSession::SessionOver(v1::Cause cause, Time now) {
  if (session_id_.empty()) return;
  previous_session_id_ = cause == v1::CAUSE_EXPIRED ? session_id_ : "";
  session_id_.clear();
  seats_.Forget();
  lease_ = Lease();
  DropStream();
  for (auto& [number, entry] : seats_.all()) {
    entry.seat.OnSessionOver(cause, now);
    // Another session would throw out the process that took over.
    if (cause == v1::CAUSE_SUPERSEDED) {
      entry.seat.OnRefused(SupersededStatus(options_.candidate), now);
    }
  }
}

bool ClientSession::OutlivedItsService(const grpc::Status& status, Time now) {
  if (!IsWrongService(status) || session_id_.empty() || now < lease_.ends_at()) return false;
  SessionOver(v1::CAUSE_EXPIRED, now);
  return true;
}

void ClientSession::SeatElected(const v1::Leadership& leadership, Time now) {
  if (seats_.Find(leadership.election()) == nullptr) AddStray(leadership.election(), now);
  Entry* const entry = seats_.Find(leadership.election());
  entry->seat.OnElected(leadership, now, lease_);
  if (!leadership.successor().empty()) {
    entry->seat.OnStepDownAsked(leadership.term(), leadership.successor(), now);
  }
}

void ClientSession::AddStray(const std::string& election, Time now) {
  const SeatNumber number = next_stray_++;
  Add(number, {election, "", 0, false, std::nullopt});
  Abandon(number, now);
}

void ClientSession::TakeIn(const v1::SeatNotice& notice, Time now) {
  if (notice.has_elected()) SeatElected(notice.elected(), now);
  Entry* const entry = seats_.Find(notice.election());
  if (entry == nullptr) return;
  if (notice.has_elected()) {
    entry->noticed_on = stream_;
    entry->in_doubt = false;
  }
  if (notice.has_lost()) entry->seat.OnLost(notice.lost().term(), notice.lost().cause(), now);
  if (notice.has_step_down()) {
    entry->seat.OnStepDownAsked(notice.step_down().term(), notice.step_down().successor(), now);
  }
}

// The seats count as listed, and the renewal as answered, once the last part of the list is here.
void ClientSession::TakeIn(const v1::Renewal& renewal, Time now) {
  if (renewal.sessions_size() != 1) return;
  const v1::SessionRenewal& session = renewal.sessions(0);
  if (session.has_ended()) return SessionOver(session.ended(), now);
  if (session.has_not_found()) return SessionOver(v1::CAUSE_EXPIRED, now);
  if (renewal_sent_ && renewal.sequence() == sequence_) {
    Renewed(session, *std::exchange(renewal_sent_, std::nullopt), now);
  }
  if (!seats_listed_) {
    list_.MergeFrom(session.seats());
    if (renewal.more()) return;
    seats_listed_ = true;
    for (const v1::Leadership& seat : list_) SeatElected(seat, now);
    seats_.Listed(list_, stream_, now);
    list_.Clear();
  }
  answered_ = renewal.sequence();
}

void ClientSession::Renewed(const v1::SessionRenewal& session, Time sent_at, Time now) {
  failures_ = 0;
  renewals_.push_back({now - sent_at, lease_.believed_until() - now});
  lease_.Renewed(sent_at, FromProto(session.lease_ttl()).value_or(Duration(0)));
  next_renewal_ = sent_at + lease_.RenewalInterval();
}

// Internals.

std::optional<ClientSession::Call> ClientSession::TakeCall(uint64_t number) {
  const auto call = calls_.extract(number);
  if (call.empty()) return std::nullopt;
  if (call.mapped().campaign) {
    for (Entry* entry : seats_.Together(call.mapped().seat)) entry->called = false;
  } else if (Entry* entry = seats_.Find(call.mapped().seat)) {
    entry->called = false;
  }
  return std::move(call.mapped());
}

v1::CampaignRequest ClientSession::Request(const std::vector<Entry*>& set, Duration wait) const {
  const SeatOptions& options = set.front()->seat.options();
  v1::CampaignRequest request;
  if (set.size() == 1) request.set_election(options.election);
  if (set.size() > 1) {
    for (const Entry* entry : set) request.add_elections(entry->seat.options().election);
  }
  request.set_candidate(options_.candidate);
  request.set_value(options.value);
  request.set_priority(options.priority);
  request.set_supersede(options_.supersede);
  *request.mutable_wait() = ToProto(wait);  // zero: the stream reports the election
  if (!session_id_.empty()) {
    request.set_session_id(session_id_);
    if (const uint64_t term = set.front()->seat.after_term()) request.set_after_term(term);
    return request;
  }
  request.set_request_id(request_id_);
  request.set_previous_session_id(previous_session_id_);
  if (options_.lease_ttl) *request.mutable_lease_ttl() = ToProto(*options_.lease_ttl);
  return request;
}

// Half of the time between two renewals: a replica that hangs costs less than a heartbeat.
Duration ClientSession::AnswerPatience() const {
  const Duration lease_ttl =
      lease_.ttl() != Duration(0) ? lease_.ttl() : options_.lease_ttl.value_or(Duration::max());
  return std::clamp(lease_ttl / 6, kAnswerPatienceMin, kAnswerPatienceMax);
}

ClientSession::Time ClientSession::Within(std::chrono::milliseconds least,
                                          std::chrono::milliseconds most, Time now) {
  using Microseconds = std::uniform_int_distribution<int64_t>;
  return now + std::chrono::microseconds(
                   Microseconds(Duration(least).count(), Duration(most).count())(random_));
}

ClientSession::Time ClientSession::Backoff(Time now) {
  const int doublings = std::clamp(failures_ - 1, 0, 10);
  const auto longest =
      std::min<std::chrono::milliseconds>(kBackoffMax, kBackoffMin * (1 << doublings));
  return Within(failures_ <= 1 ? 0ms : longest / 2, longest, now);
}

std::string ClientSession::NewRequestId() {
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(random_());
  return id;
}

}  // namespace tenure
