// What an observer has seen, and hence what it asks for next and what is news to it.
//
// Pure: no I/O, no clock. One stream after the other is noted; whatever each of them repeats or
// leaves out, every event is news exactly once, and in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenure/v1/election.pb.h"

namespace tenure {

class Observation {
 public:
  struct Wish {
    std::vector<std::string> names;  // of elections, or their prefixes
    bool prefix = false;
    std::optional<uint64_t> from_revision = {};
    std::map<std::string, uint64_t> from_revisions = {};  // of single elections, instead of it
  };
  enum class Verdict {
    kNews,
    kKnown,  // was reported before, or was not wanted
    kGap,    // something is missing before it: open another stream
  };

  explicit Observation(Wish wish);

  // What to ask for on the next stream.
  [[nodiscard]] v1::ObserveRequest Request() const;
  // What a message of the stream in use is. Only news counts as seen.
  [[nodiscard]] Verdict Note(const v1::ObserveResponse& response);

 private:
  Verdict Note(const v1::Snapshot& snapshot);
  Verdict Note(const v1::Event& event);

  Wish wish_;
  std::map<std::string, uint64_t> seen_;  // the last revision of each election
  bool opened_ = false;                   // everything has been reported once
};

}  // namespace tenure
