// What happened while everything was broken: who believed that it led, and when, and what readers
// got. All times are nanoseconds of this machine's monotonic clock, which all processes share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure::testing {

using Nanoseconds = int64_t;
[[nodiscard]] Nanoseconds NowNs();

// One election's term.
using TermKey = std::pair<std::string, uint64_t>;

// What a candidate says of a term in which it believed that it led. A belief that was read between
// two readings of the clock held at some time between them.
struct Belief {
  std::string candidate = {};
  Nanoseconds first_by = 0;               // it was believed at this time, or earlier
  Nanoseconds last_from = 0;              // it was believed at this time, or later
  Nanoseconds until = 0;                  // the candidate's own deadline
  std::optional<Nanoseconds> ended = {};  // it gave the seat up of its own accord
};

// One Leader call.
struct Reading {
  std::string election;
  Nanoseconds asked = 0;
  Nanoseconds answered = 0;
  uint64_t term = 0;
  uint64_t revision = 0;
};

// What a candidate reports to the run, one line each.
namespace line {
[[nodiscard]] std::string Began(const TermKey& term, Nanoseconds by);
[[nodiscard]] std::string Believed(const TermKey& term, Nanoseconds from, Nanoseconds until);
[[nodiscard]] std::string Ended(const TermKey& term, Nanoseconds at);
// A guarded write is about to be committed; it was acknowledged.
[[nodiscard]] std::string Writes(const TermKey& term);
[[nodiscard]] std::string Wrote(const TermKey& term);
}  // namespace line

class History {
 public:
  // Adds a line of a process of candidates. Throws std::invalid_argument if it is malformed.
  void Add(std::string_view line, const std::string& process);
  void Add(Reading reading) { readings_.push_back(std::move(reading)); }

  [[nodiscard]] const std::map<TermKey, Belief>& beliefs() const { return beliefs_; }
  [[nodiscard]] const std::vector<Reading>& readings() const { return readings_; }
  // How many writes of an election may be in the table, and how many must be.
  [[nodiscard]] uint64_t writes_tried(const std::string& election) const;
  [[nodiscard]] uint64_t writes_acknowledged(const std::string& election) const;
  // Terms that two candidates claim to have led.
  [[nodiscard]] const std::vector<std::string>& disputes() const { return disputes_; }

 private:
  Belief& Of(const TermKey& term, const std::string& candidate);

  std::map<TermKey, Belief> beliefs_;
  std::vector<Reading> readings_;
  std::map<std::string, uint64_t> tried_;
  std::map<std::string, uint64_t> acknowledged_;
  std::vector<std::string> disputes_;
};

}  // namespace tenure::testing
