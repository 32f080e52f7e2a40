#include "candidate.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

namespace {

using google::protobuf::util::TimeUtil;

constexpr int kRenewalsPerLease = 3;
constexpr size_t kUnansweredMax = 2;  // each for a sixth of the lease; then the replica hangs
constexpr auto kCheckPlace = std::chrono::seconds(30);  // is our place in the queue still there?

// How much of a lease is believed in; the rest is for clocks that drift apart.
nanoseconds Trusted(nanoseconds lease) { return lease / 10 * 9; }

LeaseClock::time_point Now() { return LeaseClock::now(); }

std::string RandomBytes(size_t count) {
  std::random_device random;
  std::string bytes(count, '\0');
  std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<char>(random()); });
  return bytes;
}

void SetTimeout(grpc::ClientContext& context, nanoseconds timeout) {
  context.set_deadline(std::chrono::system_clock::now() + timeout);
}

}  // namespace

Candidate::Candidate(std::string election, std::string name, Replicas replicas, nanoseconds ttl)
    : election_(std::move(election)),
      name_(std::move(name)),
      ttl_(ttl),
      replicas_(std::move(replicas)),
      lease_(ttl) {
  NewSession("");
}

void Candidate::NewSession(const std::string& previous) {
  CloseStream();
  previous_ = previous;
  session_.clear();
  granted_.reset();
  // The same in every retry: if an answer is lost, the retry finds the session that it opened.
  request_id_ = RandomBytes(16);
  campaign_at_ = open_at_ = Now();
}

grpc::Status Candidate::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (term_ && Now() >= until_) {
      StopWork("lost", "cause", "EXPIRED");  // whatever the network says, or does not
    }
    if (!term_ && Now() >= campaign_at_) {
      if (const auto status = Campaign(); !status.ok()) return status;
    }
    if (!session_.empty() && !stream_ && Now() >= open_at_) OpenStream();
    if (stream_ && Now() >= renew_at_) Renew();
    if (term_ && Now() >= work_at_) Work();
    AwaitMessage(stop);
  }
  Leave();
  return grpc::Status::OK;
}

// Comes back without one when something is due.
void Candidate::AwaitMessage(std::stop_token stop) {
  const auto pause = Due() - Now();
  if (!stream_) return Sleep(stop, pause);
  if (const auto message = stream_->mailbox().Take(stop, pause)) return TakeIn(*message);
  if (const auto status = stream_->mailbox().status()) {
    Complain(*status);
    CloseStream();
  }
}

Candidate::Moment Candidate::Due() const {
  const auto due = term_ ? std::min(until_, work_at_) : campaign_at_;
  if (session_.empty()) return due;
  return std::min(due, stream_ ? renew_at_ : open_at_);
}

// Longer work runs elsewhere, and asks the same before each step that matters.
void Candidate::Work() {
  work_at_ = Now() + std::chrono::seconds(1);
  const auto left = until_ - Now();
  if (left.count() <= 0) return;
  // The term is the fencing token: pass it along with every write.
  Say({{"event", "work"}, {"term", *term_}, {"left_ms", Milliseconds(left)}});
}

// Ends the belief for good. Work that runs elsewhere has to be waited for here.
void Candidate::StopWork(const std::string& event, const std::string& what,
                         const std::string& why) {
  if (term_) Say({{"event", event}, {"term", *term_}, {what, why}});
  term_.reset();
  over_ = std::max(over_, granted_);
  campaign_at_ = Now();
}

// The service says that we hold the seat in this term.
void Candidate::Seat(uint64_t term) {
  if (term_ && term > *term_) StopWork("lost", "cause", "UNKNOWN");
  granted_ = std::max(granted_, Term(term));
  if (granted_ <= over_) {
    campaign_at_ = Now();  // which resigns it first
  } else if (!term_ && Now() < until_) {
    term_ = granted_;
    work_at_ = Now();
    Say({{"event", "elected"}, {"election", election_}, {"term", *term_}, {"candidate", name_}});
  }
}

// Takes a place in the queue, or sees that it is still there. KeepAlive tells the rest.
grpc::Status Candidate::Campaign() {
  if (granted_ && granted_ <= over_ && !Resign(election_)) return grpc::Status::OK;
  pb::CampaignRequest request;
  request.set_election(election_);
  request.set_candidate(name_);
  request.set_session_id(session_);
  request.set_request_id(request_id_);
  request.set_previous_session_id(previous_);
  *request.mutable_lease_ttl() = TimeUtil::MillisecondsToDuration(Milliseconds(ttl_));
  request.mutable_wait();  // zero
  pb::CampaignResponse answer;
  grpc::ClientContext context;
  SetTimeout(context, lease_ / kRenewalsPerLease);
  const auto service = replicas_.Current();
  if (const auto status = service->Campaign(&context, request, &answer); !status.ok()) {
    Complain(status);
    campaign_at_ = Now() + replicas_.Failed(service);
    switch (status.error_code()) {
      case grpc::StatusCode::INVALID_ARGUMENT: return status;
      case grpc::StatusCode::NOT_FOUND: NewSession(""); break;
      case grpc::StatusCode::FAILED_PRECONDITION:
        renew_at_ = Now();  // the session is over; the renewal tells why
        break;
      default: break;
    }
    return grpc::Status::OK;
  }
  campaign_at_ = Now() + kCheckPlace;
  session_ = answer.session().session_id();
  previous_.clear();
  if (answer.has_elected()) Seat(answer.elected().term());
  return grpc::Status::OK;
}

// Leaves the election, or all and the session if it is "". False if that has to be repeated.
//
// Only when the work has stopped: once this call is on its way, another one may lead.
bool Candidate::Resign(const std::string& election) {
  pb::ResignRequest request;
  request.set_session_id(session_);
  request.set_election(election);
  if (!election.empty()) request.set_term(*granted_);
  pb::ResignResponse answer;
  grpc::ClientContext context;
  SetTimeout(context, lease_ / kRenewalsPerLease);
  const auto service = replicas_.Current();
  const auto status = service->Resign(&context, request, &answer);
  if (!status.ok()) {
    Complain(status);
    if (status.error_code() != grpc::StatusCode::NOT_FOUND &&
        status.error_code() != grpc::StatusCode::FAILED_PRECONDITION) {
      campaign_at_ = Now() + replicas_.Failed(service);
      return false;
    }
  } else if (answer.outcome() != pb::ResignResponse::OUTCOME_SESSION_ENDED) {
    Say({{"event", "resigned"}, {"term", *granted_}});
  }
  granted_.reset();
  return true;
}

void Candidate::Leave() {
  over_ = granted_;                        // nothing works any more
  const auto give_up_at = Now() + lease_;  // by then the service has taken the seat back
  while (!session_.empty() && Now() < give_up_at) {
    if ((!granted_ || Resign(election_)) && Resign("")) return;
    std::this_thread::sleep_for(campaign_at_ - Now());
  }
}

void Candidate::OpenStream() {
  stream_ = std::make_unique<KeepAliveStream>(replicas_.Current());
  believed_at_open_ = term_;
  sequence_ = 0;
  sent_at_.clear();
  renew_at_ = Now();
}

void Candidate::CloseStream() {
  if (!stream_) return;
  open_at_ = Now() + replicas_.Failed(stream_->service());
  stream_.reset();
}

void Candidate::Renew() {
  if (sent_at_.size() == kUnansweredMax) return CloseStream();
  ++sequence_;
  // The lease counts from before the request is sent: the service begins to count it later, so our
  // belief ends before its lease does, however long request and answer are on their way.
  sent_at_[sequence_] = Now();
  renew_at_ = Now() + lease_ / kRenewalsPerLease / 2;  // unless this one is answered
  pb::KeepAliveRequest request;
  request.set_sequence(sequence_);
  request.add_session_ids(session_);
  stream_->Send(std::move(request));
}

void Candidate::TakeIn(const pb::KeepAliveResponse& message) {
  switch (message.message_case()) {
    case pb::KeepAliveResponse::kRenewal: return TakeInRenewal(message.renewal());
    case pb::KeepAliveResponse::kSessionEnded: return SessionEnded(message.session_ended().cause());
    case pb::KeepAliveResponse::kNotice: return TakeInNotice(message.notice());
    default: return;
  }
}

void Candidate::TakeInNotice(const pb::SeatNotice& notice) {
  if (notice.election() != election_) return;
  if (notice.has_elected()) {
    Seat(notice.elected().term());
  } else if (notice.has_lost() && granted_ == notice.lost().term()) {
    StopWork("lost", "cause", Word(notice.lost().cause()));
    granted_.reset();
  } else if (notice.has_step_down() && granted_ == notice.step_down().term()) {
    StopWork("step_down", "successor", notice.step_down().successor());
  }
}

void Candidate::TakeInRenewal(const pb::Renewal& renewal) {
  const auto sent = sent_at_.find(renewal.sequence());
  if (sent == sent_at_.end() || renewal.sessions().empty()) return;
  const pb::SessionRenewal& session = renewal.sessions(0);
  if (!session.has_lease_ttl()) return SessionEnded(session.ended());
  replicas_.Answered();
  lease_ = nanoseconds(TimeUtil::DurationToNanoseconds(session.lease_ttl()));
  until_ = std::max(until_, sent->second + Trusted(lease_));
  renew_at_ = sent->second + lease_ / kRenewalsPerLease;
  sent_at_.erase(sent_at_.begin(), std::next(sent));
  if (renewal.sequence() == 1) {  // the first of a stream lists what the session holds
    const auto& seats = session.seats();
    const auto held = std::find_if(seats.begin(), seats.end(), [this](const auto& seat) {
      return seat.election() == election_;
    });
    const auto held_term = held == seats.end() ? Term() : Term(held->term());
    if (term_ && term_ == believed_at_open_ && term_ != held_term) {
      StopWork("lost", "cause", "UNKNOWN");
      granted_.reset();
    }
    if (held_term) {
      Seat(*held_term);
      if (!held->successor().empty() && granted_ == held_term) {
        StopWork("step_down", "successor", held->successor());
      }
    }
  }
  if (granted_) Seat(*granted_);
}

void Candidate::SessionEnded(pb::Cause cause) {
  StopWork("lost", "cause", Word(cause));
  // To name a session that expired although this process lives gives the next one a longer lease.
  NewSession(cause == pb::CAUSE_EXPIRED ? session_ : "");
}
