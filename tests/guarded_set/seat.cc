#include "tests/guarded_set/seat.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "client/cpp/io/keep_alive_stream.h"
#include "client/cpp/io/mailbox.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using google::protobuf::util::TimeUtil;
using Time = Lease::Time;

constexpr auto kWait = 1s;          // of one Campaign call; the loop then sees whether to stop
constexpr auto kCallPatience = 5s;  // beyond its wait
constexpr int kRenewalsPerLease = 3;

Time Now() { return std::chrono::steady_clock::now(); }

struct StreamClosed {};
using Message = std::variant<v1::KeepAliveResponse, StreamClosed>;

bool Lists(const v1::SessionRenewal& renewal, const std::string& election, Term term) {
  return std::ranges::any_of(renewal.seats(), [&](const v1::Leadership& seat) {
    return seat.election() == election && seat.term() == term.value;
  });
}

}  // namespace

Seat::Seat(const std::string& endpoints, std::string election, std::string candidate,
           Duration lease_ttl)
    : election_(std::move(election)),
      candidate_(std::move(candidate)),
      lease_ttl_(lease_ttl),
      connection_(endpoints),
      thread_([this] { Run(); }) {}

Seat::~Seat() {
  stopping_ = true;
  thread_.join();
}

std::optional<Term> Seat::BelievedTerm() const {
  const std::lock_guard lock(mutex_);
  if (term_ <= finished_ || !lease_.BelievedAt(Now())) return std::nullopt;
  return term_;
}

void Seat::Over(Term term) {
  const std::lock_guard lock(mutex_);
  finished_ = std::max(finished_, term);
}

void Seat::Believe(Term term, Time renewal_sent_at, Duration lease_ttl) {
  const std::lock_guard lock(mutex_);
  if (term_ != term) lease_ = Lease();
  term_ = term;
  lease_.Renewed(renewal_sent_at, lease_ttl);
}

void Seat::Run() {
  while (!stopping_) {
    if (const auto term = Stand()) Hold(*term);
  }
  Leave();
}

std::optional<Term> Seat::Stand() {
  v1::CampaignRequest request;
  request.set_election(election_);
  request.set_session_id(session_id_);
  request.set_candidate(candidate_);
  *request.mutable_lease_ttl() = TimeUtil::MicrosecondsToDuration(lease_ttl_.count());
  *request.mutable_wait() = TimeUtil::SecondsToDuration(std::chrono::seconds(kWait).count());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kWait + kCallPatience);
  v1::CampaignResponse response;
  const grpc::Status status = connection_.Connect()
                                  ? connection_.stub()->Campaign(&context, request, &response)
                                  : grpc::Status(grpc::StatusCode::UNAVAILABLE, "no connection");
  if (IsSessionGone(status)) {
    session_id_.clear();
    return std::nullopt;
  }
  if (!status.ok()) {
    connection_.MoveOn();
    std::this_thread::sleep_for(connection_.Backoff());
    return std::nullopt;
  }
  connection_.Succeeded();
  session_id_ = response.session().session_id();
  if (!response.has_elected()) return std::nullopt;
  return Term{response.elected().term()};
}

void Seat::Hold(Term term) {
  const auto mailbox = std::make_shared<Mailbox<Message>>();
  const auto stream = tenure::KeepAliveStream::Open(
      connection_, [mailbox](const v1::KeepAliveResponse& response) { mailbox->Put(response); },
      [mailbox](const grpc::Status&) { mailbox->Put(StreamClosed{}); });
  std::vector<Time> sent_at;  // by sequence
  // Whether the seat is still held after this message.
  const auto take_in = [&](const v1::KeepAliveResponse& response) {
    if (response.has_session_ended()) return false;
    if (response.has_notice()) {
      const v1::SeatNotice& notice = response.notice();
      return notice.election() != election_ || !notice.has_lost() ||
             notice.lost().term() != term.value;
    }
    const v1::SessionRenewal& renewal = response.renewal().sessions(0);
    if (!renewal.has_lease_ttl()) return false;
    const uint64_t sequence = response.renewal().sequence();
    if (sequence == 0 && !Lists(renewal, election_, term)) return false;
    Believe(term, sent_at.at(sequence),
            Duration(TimeUtil::DurationToMicroseconds(renewal.lease_ttl())));
    return true;
  };
  for (Time next = Now(); !stopping_;) {
    if (const Time now = Now(); now >= next) {
      v1::KeepAliveRequest request;
      request.set_sequence(sent_at.size());
      request.add_session_ids(session_id_);
      sent_at.push_back(now);
      next = now + std::chrono::duration_cast<Time::duration>(lease_ttl_ / kRenewalsPerLease);
      stream->Send(std::move(request));
    }
    const auto message = mailbox->Take(next);
    if (!message) continue;
    const auto* response = std::get_if<v1::KeepAliveResponse>(&*message);
    if (response == nullptr) break;
    if (!take_in(*response)) {
      Over(term);
      break;
    }
  }
  stream->Close();
}

void Seat::Leave() {
  if (session_id_.empty()) return;
  v1::ResignRequest request;
  request.set_session_id(session_id_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  v1::ResignResponse response;
  (void)connection_.stub()->Resign(&context, request, &response);
}

}  // namespace tenure::testing
