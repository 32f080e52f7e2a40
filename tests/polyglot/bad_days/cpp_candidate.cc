// The C++ library's candidate.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tenure/elector.h"
#include "tests/polyglot/bad_days/beliefs.h"

namespace {

using tenure::testing::Beliefs;
using tenure::testing::Say;
using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 20ms;

// Whether the next thread that this thread creates fails to start.
thread_local bool no_thread = false;

class Candidate {
 public:
  explicit Candidate(const nlohmann::json& stand)
      : client_({.endpoints = stand.at("endpoints"),
                 .candidate = stand.at("candidate"),
                 .lease_ttl = std::chrono::milliseconds(stand.at("lease_ms")),
                 .supersede = stand.at("supersede")}),
        elector_(std::in_place, client_, Options(stand.at("election"))),
        election_(stand.at("election")),
        beliefs_([this] {
          const std::lock_guard lock(mutex_);
          return Beliefs::Answer{elector_->term(), elector_->remaining()};
        }) {}

  void Linger(bool lingers) { lingers_ = lingers; }
  void Resign() { resigns_ = true; }
  void MakeTrouble() { work_cannot_start_ = true; }
  void StandAgain() {
    elector_->Resign();
    finished_.wait(false);
    const std::lock_guard lock(mutex_);
    elector_.emplace(client_, Options(election_));
  }

 private:
  tenure::ElectorOptions Options(const std::string& election) {
    return {.election = election,
            .lead = [this](const tenure::v1::Leadership& seat,
                           const std::stop_token& stop) { Lead(seat.term(), stop); },
            .on_elected =
                [this](const tenure::v1::Leadership& seat) {
                  finished_ = false;
                  Say("leading", seat.term());
                  no_thread = work_cannot_start_.exchange(false);  // callbacks' thread starts it
                },
            .on_lost =
                [this](const tenure::v1::Leadership& seat, tenure::v1::Cause cause) {
                  Say("over", seat.term(),
                      tenure::v1::Cause_Name(cause).substr(sizeof("CAUSE_") - 1));
                  finished_ = true;
                  finished_.notify_all();
                },
            .on_refused = [](const grpc::Status&) { Say("refused", 0); }};
  }
  void Lead(uint64_t term, const std::stop_token& stop) {
    resigns_ = false;
    Say("working", term);
    while (!stop.stop_requested() && !resigns_) std::this_thread::sleep_for(kBetweenLooks);
    if (stop.stop_requested()) {
      Say("stop", term);
      while (lingers_ && elector_->term() == term) std::this_thread::sleep_for(kBetweenLooks);
    }
    Say("stopped", term);
  }

  std::atomic<bool> lingers_ = false;
  std::atomic<bool> resigns_ = false;
  std::atomic<bool> work_cannot_start_ = false;
  std::atomic<bool> finished_ = true;  // the latest term
  tenure::Client client_;
  std::optional<tenure::Elector>
      elector_;  // replaced under mutex_, by the thread that reads commands
  const std::string election_;
  std::mutex mutex_;
  const Beliefs beliefs_;
};

}  // namespace

// Takes precedence over libc's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  if (std::exchange(no_thread, false)) return EAGAIN;
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, run, argument);
}

int main() {
  std::unique_ptr<Candidate> candidate;
  for (std::string line; std::getline(std::cin, line);) {
    const auto command = nlohmann::json::parse(line);
    const std::string what = command.at("do");
    if (what == "stand") candidate = std::make_unique<Candidate>(command);
    if (what == "linger") candidate->Linger(true);
    if (what == "heed") candidate->Linger(false);
    if (what == "resign") candidate->Resign();
    if (what == "trouble") candidate->MakeTrouble();
    if (what == "stand again") candidate->StandAgain();
    if (what == "quit") break;
  }
}
