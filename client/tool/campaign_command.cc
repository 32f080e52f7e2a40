#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "client/cpp/machine/call_error.h"
#include "client/tool/candidate.h"
#include "client/tool/commands.h"
#include "client/tool/exit_code.h"
#include "client/tool/output.h"
#include "client/tool/signals.h"
#include "client/tool/timed_lock.h"
#include "client/tool/words.h"
#include "tenure/elector.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kResignPatience = 5s;

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// One `tenure campaign`: prints what its elector reports, until a signal, a loss or a limit ends
// it. The elector's callbacks and the signals' thread only print and request the end; the main
// thread waits for that, and resigns.
class CampaignRun {
 public:
  CampaignRun(const CommonOptions& common, const CampaignOptions& options)
      : output_(common.json),
        options_(options),
        signals_([this](int) { OnSignal(); }),
        troubles_(ShowsTroubles(options), [this] { changed_.notify_all(); }),
        client_options_(ClientOptionsOf(common, options, troubles_)) {}

  int Run() {
    try {
      client_.emplace(client_options_);
      elector_.emplace(*client_, Callbacks());
    } catch (const std::invalid_argument& error) {
      Output::Complain(error.what());
      return kExitError;
    }
    const Ending ending = WaitForEnd();
    elector_.reset();
    if (!ending.resigns) return ending.exit_code;
    const grpc::Status status = client_->Close(kResignPatience);
    if (status.ok()) return ending.exit_code;
    return Output::Complain(status);
  }

 private:
  struct Ending {
    int exit_code;  // if the resignation succeeds
    bool resigns;   // resign first, and fail if the service does not confirm it
  };

  // Wraps a method as a callback, which is called under the lock, and not after the end.
  template <typename... Arguments>
  auto UntilTheEnd(void (CampaignRun::*tell)(Arguments...)) {
    return [this, tell](Arguments... arguments) {
      const std::unique_lock lock(mutex_);
      if (!ending_) (this->*tell)(arguments...);
      if (Output::Failed()) End(kExitError, true);
    };
  }

  ElectorOptions Callbacks() {
    ElectorOptions elector;
    elector.elections = options_.elections;
    elector.value = options_.value;
    elector.priority = options_.priority;
    elector.one_term = true;
    elector.on_standing = UntilTheEnd(&CampaignRun::OnStanding);
    elector.on_blocked = UntilTheEnd(&CampaignRun::OnBlocked);
    elector.on_elected = UntilTheEnd(&CampaignRun::OnElected);
    elector.on_step_down = UntilTheEnd(&CampaignRun::OnStepDown);
    elector.on_lost = UntilTheEnd(&CampaignRun::OnLost);
    elector.on_trouble = UntilTheEnd(&CampaignRun::OnTrouble);
    elector.on_refused = UntilTheEnd(&CampaignRun::OnRefused);
    return elector;
  }

  [[nodiscard]] bool once() const { return options_.wait == Duration(0); }

  Ending WaitForEnd() {
    std::unique_lock lock(mutex_);
    if (options_.wait) {
      const Duration patience = once() ? kTryPatience : *options_.wait;
      const auto decided = [this] { return elected_ || ending_; };
      changed_.wait_for(lock, patience, decided);
      // The first answer may come later.
      changed_.wait_for(lock, kTryPatience,
                        [&] { return decided() || standing_shown_ || troubles_.any(); });
      if (!elected_ && !ending_ && !standing_shown_) {
        Output::Complain(troubles_.Text());
        End(kExitUnavailable, false);
      } else if (!elected_) {
        End(kExitNotElected, true);
      }
    }
    changed_.wait(lock, [this] { return ending_.has_value(); });
    return *ending_;
  }

  // All of these require the lock.

  void End(int exit_code, bool resigns) {
    if (!ending_) ending_ = {exit_code, resigns};
    changed_.notify_all();
  }

  void OnStanding(const QueuePlace& place) {
    if (!std::exchange(standing_shown_, true)) ShowStanding(place);
    changed_.notify_all();
    if (once()) End(kExitNotElected, true);
  }

  void OnBlocked(const std::vector<std::string>& elections) {
    if (!std::exchange(standing_shown_, true)) ShowBlocked(elections);
    changed_.notify_all();
    if (once()) End(kExitNotElected, true);
  }

  void OnElected(const v1::Leadership& seat) {
    elected_ = true;
    changed_.notify_all();
    output_.Line({{"event", "elected"},
                  {"election", seat.election()},
                  {"term", seat.term()},
                  {"candidate", options_.candidate}},
                 "elected: " + options_.candidate + " leads " + seat.election() + " in term " +
                     std::to_string(seat.term()));
  }

  void OnStepDown(const v1::Leadership& seat, const std::string& successor) {
    output_.Line({{"event", "step_down"},
                  {"election", seat.election()},
                  {"candidate", options_.candidate},
                  {"successor", successor}},
                 "stepping down: " + successor + " will lead " + seat.election() + " next");
    End(EXIT_SUCCESS, true);
  }

  // If one seat of several is lost, the others are given up and reported as resigned.
  void OnLost(const v1::Leadership& seat, v1::Cause cause) {
    if (cause != v1::CAUSE_RESIGNED) ShowLost(seat, cause);
    expired_ |= cause == v1::CAUSE_EXPIRED;
    if (++lost_ == options_.elections.size()) End(kExitLost, !expired_);
  }

  void OnTrouble(const grpc::Status& status) {
    if (!IsTransient(status)) End(Output::Complain(status), false);
  }

  void OnRefused(const grpc::Status& status) {
    if (elected_) return;  // the loss of the seat, if any, ends the command
    const int exit_code = Output::Complain(status);
    const bool superseded = status.error_code() == grpc::StatusCode::ABORTED;
    End(superseded ? kExitNotElected : exit_code, false);
  }

  void ShowStanding(const QueuePlace& place) const {
    const std::string& election = options_.elections.front();
    const auto& leader = place.leader;
    output_.Line(
        {{"event", "standing"},
         {"election", election},
         {"candidate", options_.candidate},
         {"position", place.position},
         {"leader", leader ? Json(leader->candidate()) : Json(nullptr)}},
        "standing for " + election + " at position " + std::to_string(place.position) + "; " +
            (leader ? leader->candidate() + " leads in term " + std::to_string(leader->term())
                    : "nobody leads"));
  }

  void ShowBlocked(const std::vector<std::string>& elections) const {
    output_.Line(
        {{"event", "blocked"}, {"candidate", options_.candidate}, {"elections", elections}},
        "waiting for all of " + Join(options_.elections) + "; not free yet: " + Join(elections));
  }

  void ShowLost(const v1::Leadership& seat, v1::Cause cause) const {
    const std::string why = cause == v1::CAUSE_UNSPECIFIED ? "UNKNOWN" : Word(cause);
    output_.Line(
        {{"event", "lost"},
         {"election", seat.election()},
         {"term", seat.term()},
         {"candidate", options_.candidate},
         {"cause", why}},
        "lost: " + options_.candidate + " no longer leads " + seat.election() + " (" + why + ")");
  }

  // For the signals' thread.

  void OnSignal() {
    std::unique_lock lock(mutex_, Output::kPatience);
    if (!lock.owns_lock()) {
      (void)client_->Close(kResignPatience);
      if (!lock.try_lock_for(Output::kPatience)) Output::GiveUp();
    }
    End(elected_ ? EXIT_SUCCESS : kExitNotElected, true);
  }

  const Output output_;
  const CampaignOptions& options_;
  TimedLock mutex_;  // a callback holds it while it prints
  std::condition_variable_any changed_;
  bool standing_shown_ = false;   // guarded by mutex_
  bool elected_ = false;          // guarded by mutex_
  bool expired_ = false;          // guarded by mutex_
  size_t lost_ = 0;               // guarded by mutex_; seats
  std::optional<Ending> ending_;  // guarded by mutex_
  const Signals signals_;         // before gRPC starts its threads
  Troubles troubles_;
  const ClientOptions client_options_;
  std::optional<Client> client_;
  std::optional<Elector> elector_;
};

}  // namespace

int RunCampaign(const CommonOptions& common, const CampaignOptions& options) {
  return CampaignRun(common, options).Run();
}

}  // namespace tenure
