// Many candidates at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/systems/system.h"
#include "client/cpp/io/mailbox.h"

namespace tenure::bench {

// Calls `work` for each number below `count`, several at a time. Rethrows its exceptions.
void InParallel(size_t count, const std::function<void(size_t)>& work);

// Waits until this number of candidates stands in an election. Throws if that takes too long.
void WaitUntilStanding(System& system, const std::string& election, uint64_t count);

// Waiting candidates of one election. For one thread.
class Crowd {
 public:
  struct Told {
    size_t member;
    Clock::time_point at;
  };

  // Member i is a client of systems[i % size].
  Crowd(const std::vector<System*>& systems, size_t size, const CandidateOptions& options);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // All stand, in any order; returns when they have their places.
  void Stand(const std::string& election);
  // Waits until the next member learns that it leads.
  Told NextTold();

  [[nodiscard]] Candidate& operator[](size_t member) { return *members_[member]; }

 private:
  struct Message {
    Told told;
    std::string error;
  };

  System& first_system_;
  Mailbox<Message> mailbox_;
  std::vector<std::unique_ptr<Candidate>> members_;
};

}  // namespace tenure::bench
