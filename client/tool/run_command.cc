#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/duration_text.h"
#include "client/cpp/machine/call_error.h"
#include "client/tool/candidate.h"
#include "client/tool/child_process.h"
#include "client/tool/commands.h"
#include "client/tool/exit_code.h"
#include "client/tool/init.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "client/tool/signals.h"
#include "client/tool/words.h"
#include "tenure/elector.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kHookPatience = 10s;  // for the command after a term
// How often the guard gets the deadline, which renewals move.
constexpr auto kTick = 50ms;

bool Ends(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

// One `tenure run`. The elector's own thread runs the command; its callbacks, the signals' thread
// and the main thread only watch it, and ask it to end.
class CommandRun {
 public:
  CommandRun(const CommonOptions& common, const RunOptions& options)
      : options_(options),
        signals_([this](int number) { OnSignal(number); },
                 {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT}),
        troubles_(ShowsTroubles(options), [this] { changed_.notify_all(); }),
        elector_(Client(ClientOptionsOf(common, options, troubles_)), Callbacks()) {}

  int Run() {
    std::unique_lock lock(mutex_);
    if (options_.wait) {
      const auto patience = std::max<Duration>(
          *options_.wait, options_.wait == Duration(0) ? kTryPatience : Duration(0));
      const auto decided = [this] { return elected_ || exit_code_; };
      changed_.wait_for(lock, patience, decided);
      // The first answer may come later.
      changed_.wait_for(lock, kTryPatience,
                        [&] { return decided() || stood_ || refusal_ || troubles_.any(); });
      if (!elected_ && !exit_code_) exit_code_ = stood_ ? kExitNotElected : refusal_;
      if (!elected_ && !exit_code_) {
        Output::Complain(troubles_.Text());
        exit_code_ = kExitUnavailable;
      }
    }
    changed_.wait(lock, [this] { return exit_code_ && !at_work_; });
    return *exit_code_;
  }

 private:
  ElectorOptions Callbacks() {
    ElectorOptions elector{.election = options_.election};
    elector.value = options_.value;
    elector.priority = options_.priority;
    elector.stop_grace = MillisOf(options_.grace);
    elector.lead = [this](const v1::Leadership& seat, const std::stop_token& stop) {
      Lead(seat, stop);
    };
    // On the callbacks' thread, so always before on_lost.
    elector.on_elected = [this](const v1::Leadership&) {
      const std::lock_guard lock(mutex_);
      at_work_ = true;
    };
    elector.on_standing = [this](uint64_t position) { OnStanding(position); };
    elector.on_lost = [this](const v1::Leadership& seat, v1::Cause cause) { OnLost(seat, cause); };
    elector.on_trouble = [this](const grpc::Status& status) {
      if (!IsTransient(status)) OnRefusal(Output::Complain(status));
    };
    elector.on_refused = [this](const grpc::Status& status) { Exit(Output::Complain(status)); };
    elector.on_overrun = [this](const v1::Leadership&) { SignalChild(SIGKILL); };
    return elector;
  }

  // On the elector's work thread.

  void Lead(const v1::Leadership& seat, const std::stop_token& stop) {
    {
      const std::lock_guard lock(mutex_);
      elected_ = !exit_code_;
      at_work_ = elected_;
      changed_.notify_all();
      if (!elected_) return elector_.Resign();
    }
    Say(options_.candidate + " leads " + seat.election() + " in term " +
        std::to_string(seat.term()));
    WarnOfShortLease(DurationOf(seat.lease_ttl()));
    std::optional<int> code;
    if (!options_.on_elected.empty()) {
      code = RunChild({"/bin/sh", "-c", options_.on_elected}, Environment(seat), stop);
    }
    if (code.value_or(EXIT_SUCCESS) == EXIT_SUCCESS) {
      code = RunChild(options_.command, Environment(seat), stop);
    }
    // If this process was stopped, the command may have ended before the elector knows why.
    const bool lost = stop.stop_requested() || !elector_.IsLeader();
    const std::lock_guard lock(mutex_);
    at_work_ = false;
    // Before this function returns, so that the elector does not stand again meanwhile.
    if (!options_.restart || ending_) elector_.Resign();
    // If a signal came first, the command was not started: the exit code is as if the signal had
    // ended it.
    if (ending_) ends_with_ = code.value_or(128 + *ending_);
    if (!ending_ && !options_.restart && !lost) ends_with_ = code.value_or(EXIT_SUCCESS);
    if (!ending_ && !options_.restart && lost) ends_with_ = kExitLost;
    changed_.notify_all();
  }

  // The library shortens the grace if the lease requires it. Warns once.
  void WarnOfShortLease(Duration lease_ttl) {
    if (!options_.grace || *options_.grace <= lease_ttl / 2 || std::exchange(warned_, true)) return;
    Say("--grace is " + DurationText(lease_ttl / 2) + " instead of " +
        DurationText(*options_.grace) + ": the maximum is half of the lease, which is " +
        DurationText(lease_ttl));
  }

  // Runs the command until it ends or is killed. Nothing if it was not started.
  std::optional<int> RunChild(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& environment,
                              const std::stop_token& stop) {
    std::optional<ChildProcess> child;
    try {
      const std::lock_guard lock(mutex_);
      if (ending_ || stop.stop_requested() || !elector_.IsLeader()) return std::nullopt;
      child.emplace(command, environment,
                    [this](pid_t group) { guard_.Watch(group, elector_.remaining()); });
      child_ = &*child;
    } catch (const std::system_error& error) {
      guard_.Watch(0, 0ns);
      Output::Complain("cannot run " + command.front() + ": " + error.code().message());
      return error.code().value() == ENOENT ? kExitNoCommand : kExitCannotRun;
    }
    const std::stop_callback terminate(stop, [this] { SignalChild(SIGTERM); });
    while (!child->WaitForEnd(kTick)) {
      // While suspended, this process does not renew, so another one may lead.
      if (child->WasSuspended()) child->SuspendWithIt();
      if (elector_.IsLeader()) guard_.Watch(child->group(), elector_.remaining());
    }
    guard_.Watch(0, 0ns);
    const std::lock_guard lock(mutex_);
    child_ = nullptr;
    return child->Reap();
  }

  // On the callbacks' thread.

  void OnStanding(uint64_t position) {
    Say("waiting for " + options_.election + " at position " + std::to_string(position));
    {
      const std::lock_guard lock(mutex_);
      stood_ = true;
      changed_.notify_all();
    }
    if (options_.wait == Duration(0)) Exit(kExitNotElected);
  }

  // The service answers, but does not let this process stand now.
  void OnRefusal(int exit_code) {
    {
      const std::lock_guard lock(mutex_);
      refusal_ = exit_code;
      changed_.notify_all();
    }
    if (options_.wait == Duration(0)) Exit(exit_code);
  }

  void OnLost(const v1::Leadership& seat, v1::Cause cause) {
    const std::string name = Word(cause);
    Say(options_.candidate + " no longer leads " + seat.election() + " (" + name + ")");
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !at_work_; });
    }
    if (!options_.on_lost.empty()) RunOnLost(seat, name);
    const std::lock_guard lock(mutex_);
    if (ends_with_ && !exit_code_) exit_code_ = ends_with_;
    changed_.notify_all();
  }

  void RunOnLost(const v1::Leadership& seat, const std::string& cause) {
    auto environment = Environment(seat);
    environment["TENURE_CAUSE"] = cause;
    try {
      ChildProcess hook({"/bin/sh", "-c", options_.on_lost}, environment, [](pid_t) {});
      if (hook.WaitForEnd(kHookPatience)) (void)hook.Reap();
    } catch (const std::system_error& error) {
      Output::Complain(std::string("cannot run --on-lost: ") + error.what());
    }
  }

  // On any thread.

  void OnSignal(int number) {
    const std::lock_guard lock(mutex_);
    if (child_ != nullptr) child_->Signal(number);
    if (!Ends(number)) return;
    ending_ = number;
    if (!at_work_ && !exit_code_) exit_code_ = ends_with_.value_or(kExitNotElected);
    changed_.notify_all();
  }

  void SignalChild(int number) {
    const std::lock_guard lock(mutex_);
    if (child_ != nullptr) child_->Signal(number);
  }

  void Exit(int code) {
    const std::lock_guard lock(mutex_);
    if (!exit_code_) exit_code_ = code;
    changed_.notify_all();
  }

  [[nodiscard]] std::map<std::string, std::string> Environment(const v1::Leadership& seat) const {
    return {{"TENURE_ELECTION", seat.election()},
            {"TENURE_TERM", std::to_string(seat.term())},
            {"TENURE_CANDIDATE", options_.candidate}};
  }

  // Standard output is the command's.
  static void Say(const std::string& what) { Output::Complain(what); }

  const RunOptions& options_;
  const Guard guard_;    // first: it forks, and there are no threads yet
  bool warned_ = false;  // of a short lease; for the elector's work thread
  std::mutex mutex_;
  std::condition_variable changed_;
  bool elected_ = false;           // guarded by mutex_; once
  bool stood_ = false;             // guarded by mutex_; once
  bool at_work_ = false;           // guarded by mutex_
  std::optional<int> refusal_;     // guarded by mutex_; the exit code for the latest
  std::optional<int> ending_;      // guarded by mutex_; the signal that asked for the end
  std::optional<int> ends_with_;   // guarded by mutex_; exit code once the term has ended
  std::optional<int> exit_code_;   // guarded by mutex_
  ChildProcess* child_ = nullptr;  // guarded by mutex_
  const Signals signals_;          // before gRPC starts its threads
  Troubles troubles_;
  Elector elector_;
};

}  // namespace

int RunRun(const CommonOptions& common, const RunOptions& options) {
  return RunAsInitIfFirst([&] { return CommandRun(common, options).Run(); });
}

}  // namespace tenure
