#include <algorithm>
#include <random>
#include <thread>
#include <variant>

#include "client/async_call.h"
#include "client/connection.h"
#include "client/tool/campaign_mailbox.h"
#include "client/tool/commands.h"
#include "client/tool/exit_code.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "client/tool/seat_holder.h"
#include "client/tool/signals.h"
#include "proto/time.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

// One Campaign call waits no longer than this: then the next one does, so that a replica that hangs
// is noticed.
constexpr auto kWaitPerCall = 20s;
constexpr auto kCallPatience =
    5s;  // of a call that does not wait, and beyond the wait of one that does
constexpr auto kResignPatience = 5s;
constexpr auto kResignCallPatience = 2s;

std::string NewRequestId() {
  std::random_device random;
  std::string id(16, '\0');
  for (char& byte : id) byte = static_cast<char>(random());
  return id;
}

std::string Join(const auto& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// One `tenure campaign`: stands, waits, holds, and resigns. All decisions are made on one thread.
class CampaignRun {
 public:
  CampaignRun(const CommonOptions& common, const CampaignOptions& options)
      : output_(common.json),
        options_(options),
        mailbox_(std::make_shared<CampaignMailbox>()),
        signals_([mailbox = mailbox_](int) { mailbox->Put(Interrupted{}); }),
        connection_(common.endpoints, common.Credentials()) {}

  int Run() {
    const Time now = Now();
    if (options_.wait)
      give_up_at_ = now + std::chrono::duration_cast<Time::duration>(*options_.wait);
    const Time try_until = now + kTryPatience;
    while (true) {
      const bool once = options_.wait == Duration(0);
      const auto stood = Campaign();
      if (!stood) return Leave(kExitNotElected);
      if (stood->ok()) {
        connection_.Succeeded();
        session_id_ = response_.session().session_id();
        if (auto seats = Seats(); !seats.empty()) {
          const auto held = Hold(std::move(seats));
          if (held) return *held;
          if (once || Over()) return Leave(kExitNotElected);
          connection_.MoveOn();
          if (!Pause(connection_.Backoff())) return Leave(kExitNotElected);
          continue;
        }
        ShowStanding();
        if (once || Over()) return Leave(kExitNotElected);
        continue;
      }
      if (IsSessionGone(*stood)) {
        const std::string cause = MetadataOf(*stood, "cause");
        // Whoever took this one's place would be thrown out by another session.
        if (cause == "SUPERSEDED") {
          Output::Complain("superseded by a newer session of " + options_.candidate);
          return kExitNotElected;
        }
        previous_session_id_ = cause == "EXPIRED" ? session_id_ : "";
        session_id_.clear();
        request_id_ = NewRequestId();
        continue;
      }
      if (ReasonOf(*stood) == "CANDIDACY_WITHDRAWN") continue;
      if (!IsTransient(*stood) || (once && Now() >= try_until)) return Output::Complain(*stood);
      if (!once && Over()) return Leave(kExitNotElected);
      connection_.MoveOn();
      if (!Pause(connection_.Backoff())) return Leave(kExitNotElected);
    }
  }

 private:
  static Time Now() { return std::chrono::steady_clock::now(); }
  [[nodiscard]] bool Over() const { return give_up_at_ && Now() >= *give_up_at_; }

  // How long the next call may wait: not at all until it is known where we stand.
  [[nodiscard]] Duration NextWait() const {
    if (!standing_shown_ || session_id_.empty()) return Duration(0);
    Time::duration wait = kWaitPerCall;
    if (give_up_at_) wait = std::clamp<Time::duration>(*give_up_at_ - Now(), 0s, wait);
    return std::chrono::duration_cast<Duration>(wait);
  }

  [[nodiscard]] v1::CampaignRequest Request(Duration wait) const {
    v1::CampaignRequest request;
    if (options_.elections.size() == 1) {
      request.set_election(options_.elections.front());
    } else {
      request.mutable_elections()->Add(options_.elections.begin(), options_.elections.end());
    }
    request.set_session_id(session_id_);
    request.set_candidate(options_.candidate);
    request.set_value(options_.value);
    request.set_priority(options_.priority);
    request.set_supersede(options_.supersede);
    *request.mutable_wait() = ToProto(wait);
    if (session_id_.empty()) {
      request.set_request_id(request_id_);
      request.set_previous_session_id(previous_session_id_);
      if (options_.lease_ttl) *request.mutable_lease_ttl() = ToProto(*options_.lease_ttl);
    }
    return request;
  }

  // One Campaign call. Nothing if it was interrupted.
  std::optional<grpc::Status> Campaign() {
    using Call = AsyncCall<v1::ElectionService::Stub, v1::CampaignRequest, v1::CampaignResponse>;
    const Duration wait = NextWait();
    auto call = std::make_shared<Call>(connection_, connection_.stub());
    call->request = Request(wait);
    call->context.set_deadline(std::chrono::system_clock::now() + wait + kCallPatience);
    const uint64_t number = ++calls_;
    call->stub->async()->Campaign(&call->context, &call->request, &call->response,
                                  [call, number, mailbox = mailbox_](const grpc::Status& status) {
                                    mailbox->Put(CampaignDone{number, status, call->response});
                                  });
    while (auto message = mailbox_->Take(Time::max())) {
      if (std::holds_alternative<Interrupted>(*message)) {
        call->context.TryCancel();
        return std::nullopt;
      }
      auto* done = std::get_if<CampaignDone>(&*message);
      if (done == nullptr || done->call != number) continue;
      response_ = std::move(done->response);
      return done->status;
    }
    return std::nullopt;
  }

  // What the last call was granted.
  [[nodiscard]] std::vector<v1::Leadership> Seats() const {
    if (response_.has_elected()) return {response_.elected()};
    const auto& all = response_.all_elected().leaderships();
    return {all.begin(), all.end()};
  }

  void ShowStanding() {
    if (std::exchange(standing_shown_, true)) return;
    if (response_.has_blocked()) return ShowBlocked();
    const std::string& election = options_.elections.front();
    const v1::Standing& standing = response_.standing();
    const bool led = standing.has_leader();
    output_.Line({{"event", "standing"},
                  {"election", election},
                  {"candidate", options_.candidate},
                  {"position", standing.position()},
                  {"leader", led ? Json(standing.leader().candidate()) : Json(nullptr)}},
                 "standing for " + election + " at position " +
                     std::to_string(standing.position()) + "; " +
                     (led ? standing.leader().candidate() + " leads in term " +
                                std::to_string(standing.leader().term())
                          : "nobody leads"));
  }

  void ShowBlocked() const {
    const auto& blocked = response_.blocked().elections();
    output_.Line(
        {{"event", "blocked"},
         {"candidate", options_.candidate},
         {"elections", std::vector<std::string>(blocked.begin(), blocked.end())}},
        "waiting for all of " + Join(options_.elections) + "; not free yet: " + Join(blocked));
  }

  // Holds the seats until one is lost, an operator wants another leader, or a signal comes. Answers
  // with the exit code; nothing if that was before the first renewal confirmed them, so that nobody
  // was told of them.
  std::optional<int> Hold(std::vector<v1::Leadership> seats) {
    SeatHolder holder(connection_, mailbox_, session_id_,
                      DurationOf(response_.session().lease_ttl()), seats,
                      [&] { ShowElected(seats); });
    const SeatHolder::Ending ending = holder.Hold();
    const auto* lost = std::get_if<SeatHolder::Lost>(&ending);
    if (lost != nullptr && holder.confirmed()) {
      ShowLost(seats, *lost);
      return lost->election.empty() ? kExitLost : Leave(kExitLost);
    }
    if (const auto* asked = std::get_if<SeatHolder::AskedToStepDown>(&ending)) ShowStepDown(*asked);
    // The seats first: should the end of the session be refused, they are free all the same.
    for (const v1::Leadership& seat : seats) ResignSeat(seat);
    if (lost != nullptr) return std::nullopt;
    return Leave(holder.confirmed() ? EXIT_SUCCESS : kExitNotElected);
  }

  void ShowElected(const std::vector<v1::Leadership>& seats) const {
    for (const v1::Leadership& seat : seats) {
      output_.Line({{"event", "elected"},
                    {"election", seat.election()},
                    {"term", seat.term()},
                    {"candidate", options_.candidate}},
                   "elected: " + options_.candidate + " leads " + seat.election() + " in term " +
                       std::to_string(seat.term()));
    }
  }

  void ShowLost(const std::vector<v1::Leadership>& seats, const SeatHolder::Lost& lost) const {
    for (const v1::Leadership& seat : seats) {
      if (!lost.election.empty() && lost.election != seat.election()) continue;
      output_.Line({{"event", "lost"},
                    {"election", seat.election()},
                    {"term", seat.term()},
                    {"candidate", options_.candidate},
                    {"cause", lost.cause}},
                   "lost: " + options_.candidate + " no longer leads " + seat.election() + " (" +
                       lost.cause + ")");
    }
  }

  void ShowStepDown(const SeatHolder::AskedToStepDown& asked) const {
    output_.Line({{"event", "step_down"},
                  {"election", asked.election},
                  {"candidate", options_.candidate},
                  {"successor", asked.successor}},
                 "stepping down: " + asked.successor + " will lead " + asked.election + " next");
  }

  // Best effort: if it fails, ending the session gives up the seat as well.
  void ResignSeat(const v1::Leadership& seat) {
    v1::ResignRequest request;
    request.set_session_id(session_id_);
    request.set_election(seat.election());
    request.set_term(seat.term());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kResignCallPatience);
    v1::ResignResponse response;
    if (connection_.Connect()) (void)connection_.stub()->Resign(&context, request, &response);
  }

  // Gives everything up and ends. The exit code is `clean` if the service took it.
  int Leave(int clean) {
    if (session_id_.empty()) return clean;
    const Time until = Now() + kResignPatience;
    v1::ResignRequest request;
    request.set_session_id(session_id_);
    while (true) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kResignCallPatience);
      v1::ResignResponse response;
      const grpc::Status status = connection_.Connect()
                                      ? connection_.stub()->Resign(&context, request, &response)
                                      : Unreachable();
      if (status.ok() || IsSessionGone(status)) return clean;
      if (!IsTransient(status) || Now() >= until) return Output::Complain(status);
      connection_.MoveOn();
      std::this_thread::sleep_for(connection_.Backoff());
    }
  }

  // False if it was interrupted.
  bool Pause(std::chrono::milliseconds pause) {
    const Time until = Now() + pause;
    while (auto message = mailbox_->Take(until)) {
      if (std::holds_alternative<Interrupted>(*message)) return false;
    }
    return true;
  }

  const Output output_;
  const CampaignOptions& options_;
  const std::shared_ptr<CampaignMailbox> mailbox_;
  const Signals signals_;  // before gRPC starts its threads
  Connection connection_;
  std::optional<Time> give_up_at_;

  std::string request_id_ = NewRequestId();
  std::string session_id_;
  std::string previous_session_id_;
  uint64_t calls_ = 0;
  v1::CampaignResponse response_;  // of the last call
  bool standing_shown_ = false;
};

}  // namespace

int RunCampaign(const CommonOptions& common, const CampaignOptions& options) {
  return CampaignRun(common, options).Run();
}

}  // namespace tenure
