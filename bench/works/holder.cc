#include "bench/works/holder.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "bench/report/holder_log.h"
#include "bench/systems/system.h"
#include "bench/works/sql_candidate.h"
#include "tenure/elector.h"

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPieceOfWork = 10ms;
constexpr auto kEndPatience = 30s;
// A renewal moves the deadline by a third of the lease; readings are less precise than that.
constexpr auto kDeadlineNoise = 100ms;

// Thread-safe.
class Journal {
 public:
  void Write(HolderEvent event) {
    const std::lock_guard lock(mutex_);
    WriteLocked(event);
  }
  void Believe(bool leads) {
    const std::lock_guard lock(mutex_);
    believes_ = leads;
    WriteLocked(leads ? HolderEvent::kBegan : HolderEvent::kEnded);
  }
  void WorkIfBelieving() {
    const std::lock_guard lock(mutex_);
    if (believes_) WriteLocked(HolderEvent::kWorked);
  }

 private:
  static void WriteLocked(HolderEvent event) {
    std::cout << HolderLine(event, Clock::now()) << std::endl;
  }

  std::mutex mutex_;
  bool believes_ = false;  // guarded by mutex_
};

// Blocks SIGUSR1 for this thread and those that it starts.
sigset_t BlockResignation() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void WaitForResignation(const sigset_t& signals) {
  int number = 0;
  sigwait(&signals, &number);
}

[[noreturn]] void Exit(const std::string& error) {
  std::cerr << error << std::endl;
  std::_Exit(EXIT_FAILURE);
}

// When the elector stops believing, unless it renews.
Clock::time_point DeadlineOf(const Elector& elector) { return Clock::now() + elector.remaining(); }

// Works while the elector leads, and records each renewal.
void WorkFor(const Elector& elector, const std::stop_token& stop, Journal& journal) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  auto deadline = DeadlineOf(elector);
  journal.Believe(true);
  while (!stop.stop_requested() && elector.IsLeader()) {
    journal.WorkIfBelieving();
    if (DeadlineOf(elector) > deadline + kDeadlineNoise) {
      deadline = DeadlineOf(elector);
      journal.Write(HolderEvent::kRenewed);
    }
    stopped.wait_for(lock, stop, kPieceOfWork, [] { return false; });
  }
  journal.Believe(false);
}

}  // namespace

void RunSqlHolder(const SqlHolderOptions& options) {
  const sigset_t signals = BlockResignation();
  Journal journal;
  const SqlReports reports{.on_leads = [&] { journal.Believe(true); },
                           .on_renewed = [&] { journal.Write(HolderEvent::kRenewed); },
                           .on_resigning = [&] { journal.Write(HolderEvent::kResigning); },
                           .on_lost = [&] { journal.Believe(false); },
                           .on_broken = Exit};
  SqlCandidate candidate(SqlSchemeOf(options.scheme),
                         {.port = options.port,
                          .database = options.database,
                          .election = options.election,
                          .candidate = "holder"},
                         reports);
  const std::jthread working([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(kPieceOfWork)) {
      journal.WorkIfBelieving();
    }
  });
  WaitForResignation(signals);
  candidate.Resign();
}

void RunTenureHolder(const TenureHolderOptions& options) {
  const sigset_t signals = BlockResignation();
  Journal journal;
  std::promise<const Elector*> made;
  const std::shared_future<const Elector*> elector = made.get_future().share();
  Client client({.endpoints = options.endpoint, .candidate = "holder", .lease_ttl = options.lease});
  const Elector own(
      client, {.election = options.election,
               .lead = [&](const v1::Leadership&,
                           const std::stop_token& stop) { WorkFor(*elector.get(), stop, journal); },
               .one_term = true});
  made.set_value(&own);
  WaitForResignation(signals);
  journal.Write(HolderEvent::kResigning);
  const grpc::Status closed = client.Close(kEndPatience);
  if (!closed.ok()) throw std::runtime_error("cannot resign: " + closed.error_message());
}

}  // namespace tenure::bench
