// Compares what is known of one election from outside its candidates with what they say themselves,
// and finds what must not be.
//
// There are three witnesses. The candidates say what they believe, by one clock that they share.
// Their wires know when a request was on its way, and that its answer has come: no deadline may be
// later than nine tenths of the lease after that. And the service says when each term began and
// ended. All of it is compared in such a way that a correct candidate is never accused: a belief
// counts from the latest moment at which it may have begun, and to the earliest at which it may
// have ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenure/v1/election.pb.h"
#include "tests/polyglot/bad_days/line.h"

namespace tenure::testing {

// Thread-safe.
class Witness {
 public:
  // A candidate's process.
  struct Candidate {
    std::string process;  // its name here; no other process has it
    std::string name;     // as the service knows it
    // For how much of the lease it may believe: 0.9, or 1 if its deadline ends it by force.
    double believes_for = 0.9;
    // A process that is killed may not report its last steps, and one that does not begin in time
    // reports nothing.
    bool may_be_killed = false;
  };
  void Add(const Candidate& candidate);
  // It has ended, and all that it said was heard.
  void Remove(const std::string& process);

  // --- What is reported ---

  void Hear(const std::string& process, const Line& line);
  // By its wire: a request that renews a lease was seen, before it went on to the service.
  void Asked(const std::string& process);
  // The answer to a request of this time is about to reach it, and grants a lease of this length.
  void Answered(const std::string& process, Moment asked, std::chrono::nanoseconds lease,
                Moment now);
  // A Resign was seen, before it went on.
  void Resigned(const std::string& process, uint64_t term, Moment now);
  // By the service.
  void Elected(uint64_t term, const std::string& name);
  void Vacated(uint64_t term, v1::Cause cause, Moment at);
  // A violation that was found elsewhere.
  void Accuse(const std::string& what);

  // --- What tests wait for and read ---

  // Each waits for up to kPatience; false if it does not come true.
  [[nodiscard]] bool WaitForSaid(const std::string& process, Line::Event event, uint64_t term);
  // Somebody leads in a later term than this, by its own word and the service's.
  [[nodiscard]] bool WaitForTermAfter(uint64_t term);
  [[nodiscard]] bool WaitForEndOf(uint64_t term);  // by the service's word
  // This many requests, or answers, in all.
  [[nodiscard]] bool WaitForRequests(const std::string& process, size_t count);
  [[nodiscard]] bool WaitForAnswers(const std::string& process, size_t count);

  [[nodiscard]] bool HasSaid(const std::string& process, Line::Event event, uint64_t term) const;
  [[nodiscard]] size_t requests(const std::string& process) const;
  [[nodiscard]] size_t answers(const std::string& process) const;
  [[nodiscard]] uint64_t latest_term() const;             // by the service's word
  [[nodiscard]] v1::Cause cause_of(uint64_t term) const;  // the same
  // The process that claims to lead in this term; empty if none does.
  [[nodiscard]] std::string LeaderIn(uint64_t term) const;

  // The violations that were found since the last call, in sentences.
  [[nodiscard]] std::vector<std::string> TakeViolations();

 private:
  // One process's own account of a term.
  struct Reign {
    std::set<Line::Event> said = {};
    std::optional<Moment> over_at = {};
    std::optional<Moment> resigned_at = {};  // as its wire saw it
    std::optional<Moment> believed_first = {};
    std::optional<Moment> believed_last = {};
    bool disbelieved = false;  // it has said no, after it had said yes
  };
  struct Told {
    Candidate candidate;
    std::map<uint64_t, Reign> reigns = {};
    uint64_t believed = 0;  // the term of its last belief
    bool refused = false;
    size_t requests = 0;
    size_t answers = 0;
    // The deadline of a correct library, from each moment on. It only ever rises.
    std::vector<std::pair<Moment, Moment>> deadlines = {};
  };
  struct Term {
    std::string name = {};
    std::optional<Moment> vacated = {};
    v1::Cause cause = v1::CAUSE_UNSPECIFIED;
  };

  void HearBelief(Told& told, const Line& line);
  void HearEvent(Told& told, const Line& line);
  [[nodiscard]] static bool Works(const Reign& reign);
  void CompareTerms();
  void ForgetOldTerms();
  void Find(const std::string& violation);
  [[nodiscard]] static std::optional<Moment> DeadlineAt(const Told& told, Moment moment);
  [[nodiscard]] std::string LeaderLocked(uint64_t term) const;
  [[nodiscard]] bool Wait(const std::function<bool()>& condition);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Told> told_;  // guarded by mutex_, as is all that follows
  std::map<uint64_t, Term> terms_;
  std::set<std::string> found_;  // to report each violation once
  std::vector<std::string> untold_;
};

}  // namespace tenure::testing
