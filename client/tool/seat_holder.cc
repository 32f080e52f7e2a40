#include "client/tool/seat_holder.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "client/holder_clock.h"
#include "client/tool/moments.h"
#include "client/tool/words.h"

namespace tenure {
namespace {

constexpr char kExpired[] = "EXPIRED";
// The seat went while this client was not connected: nobody has told it why.
constexpr char kUnknown[] = "UNKNOWN";

// Never the same for two streams, whoever opens them: what one says late is not taken for another.
uint64_t NewStreamNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

SeatHolder::SeatHolder(Connection& connection, std::shared_ptr<CampaignMailbox> mailbox,
                       std::string session_id, Duration lease_ttl,
                       std::vector<v1::Leadership> seats, std::function<void()> on_confirmed)
    : connection_(connection),
      mailbox_(std::move(mailbox)),
      session_id_(std::move(session_id)),
      seats_(std::move(seats)),
      on_confirmed_(std::move(on_confirmed)) {
  lease_.Renewed(HolderNow(), lease_ttl);  // only until when to try
}

SeatHolder::Ending SeatHolder::Hold() {
  OpenStream();
  while (true) {
    const Time next = std::min({lease_.believed_until(), next_renewal_, reopen_at_});
    auto message = mailbox_->Take(WaitUntil(next));
    const Time now = HolderNow();
    if (!lease_.BelievedAt(now)) return Lost{"", kExpired};
    if (message && std::holds_alternative<Interrupted>(*message)) return Interrupted{};
    if (message && std::holds_alternative<StreamClosed>(*message)) {
      if (std::get<StreamClosed>(*message).stream == stream_number_) ReopenLater();
    } else if (message && std::holds_alternative<StreamMessage>(*message)) {
      const auto& told = std::get<StreamMessage>(*message);
      if (told.stream != stream_number_) continue;
      if (auto lost = TakeIn(told.response)) return *lost;
      if (confirmed_ && step_down_) return *step_down_;
    }
    if (now >= reopen_at_) OpenStream();
    if (now >= next_renewal_) Renew(now);
  }
}

void SeatHolder::OpenStream() {
  reopen_at_ = Time::max();
  const uint64_t number = stream_number_ = NewStreamNumber();
  stream_ = KeepAliveStream::Open(
      connection_,
      [number, mailbox = mailbox_](const v1::KeepAliveResponse& response) {
        mailbox->Put(StreamMessage{number, response});
      },
      [number, mailbox = mailbox_](const grpc::Status&) { mailbox->Put(StreamClosed{number}); });
  first_on_stream_ = true;
  unanswered_.clear();
  Renew(HolderNow());
}

void SeatHolder::CloseStream() {
  if (stream_ != nullptr) stream_->Close();
  stream_.reset();
  stream_number_ = 0;
}

void SeatHolder::ReopenLater() {
  CloseStream();
  connection_.MoveOn();
  reopen_at_ = HolderNow() + connection_.Backoff();
  next_renewal_ = Time::max();
}

void SeatHolder::Renew(Time now) {
  // Two renewals without an answer: this replica hangs.
  if (unanswered_.size() >= 2) return ReopenLater();
  v1::KeepAliveRequest request;
  request.set_sequence(++sequence_);
  request.add_session_ids(session_id_);
  unanswered_[sequence_] = now;
  stream_->Send(std::move(request));
  next_renewal_ = now + lease_.RenewalInterval() / (unanswered_.size() > 1 ? 2 : 1);
}

std::optional<SeatHolder::Lost> SeatHolder::TakeIn(const v1::KeepAliveResponse& response) {
  switch (response.message_case()) {
    case v1::KeepAliveResponse::kRenewal: return TakeIn(response.renewal());
    case v1::KeepAliveResponse::kNotice: return TakeIn(response.notice());
    case v1::KeepAliveResponse::kSessionEnded:
      return Lost{"", Word(response.session_ended().cause())};
    case v1::KeepAliveResponse::MESSAGE_NOT_SET: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<SeatHolder::Lost> SeatHolder::TakeIn(const v1::SeatNotice& notice) {
  const std::string& election = notice.election();
  if (notice.has_lost() && IsMine(election, notice.lost().term())) {
    return Lost{election, Word(notice.lost().cause())};
  }
  if (notice.has_step_down() && IsMine(election, notice.step_down().term())) {
    step_down_ = {election, notice.step_down().successor()};
  }
  return std::nullopt;
}

std::optional<SeatHolder::Lost> SeatHolder::TakeIn(const v1::Renewal& renewal) {
  const auto sent = unanswered_.find(renewal.sequence());
  if (sent == unanswered_.end() || renewal.sessions().empty()) return std::nullopt;
  const Time sent_at = sent->second;
  unanswered_.erase(unanswered_.begin(), std::next(sent));
  const v1::SessionRenewal& session = renewal.sessions(0);
  if (session.has_ended()) return Lost{"", Word(session.ended())};
  if (session.has_not_found()) return Lost{"", kExpired};
  if (std::exchange(first_on_stream_, false)) {
    if (auto missing = MissingIn(session); !missing.empty()) return Lost{missing, kUnknown};
    for (const v1::Leadership& seat : session.seats()) {
      const bool asked = !seat.successor().empty() && IsMine(seat.election(), seat.term());
      if (asked) step_down_ = {seat.election(), seat.successor()};
    }
  }
  connection_.Succeeded();
  lease_.Renewed(sent_at, DurationOf(session.lease_ttl()));
  next_renewal_ = sent_at + lease_.RenewalInterval();
  if (!std::exchange(confirmed_, true)) on_confirmed_();
  return std::nullopt;
}

std::string SeatHolder::MissingIn(const v1::SessionRenewal& session) const {
  for (const v1::Leadership& seat : seats_) {
    const bool listed = std::ranges::any_of(session.seats(), [&](const v1::Leadership& held) {
      return held.election() == seat.election() && held.term() == seat.term();
    });
    if (!listed) return seat.election();
  }
  return "";
}

bool SeatHolder::IsMine(const std::string& election, uint64_t term) const {
  return std::ranges::any_of(seats_, [&](const v1::Leadership& seat) {
    return seat.election() == election && seat.term() == term;
  });
}

}  // namespace tenure
