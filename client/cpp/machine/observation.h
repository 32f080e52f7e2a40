// What an observer has seen, and therefore what it requests next and what is news to it.
//
// Pure: no I/O, no clock. Streams are noted one after another; whatever each repeats or leaves out,
// every event is news exactly once, and in order.
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
    std::map<std::string, uint64_t> from_revisions =
        {};  // of single elections, instead of from_revision
  };
  enum class Verdict {
    kNews,
    kKnown,  // was reported before, or was not wanted
    kGap,    // something before it is missing: open another stream
  };

  explicit Observation(Wish wish);

  // What to ask for on the next stream.
  [[nodiscard]] v1::ObserveRequest Request() const;
  // Classifies a message of the stream in use. Only news counts as seen.
  [[nodiscard]] Verdict Note(const v1::ObserveResponse& response);

 private:
  Verdict Note(const v1::Snapshot& snapshot);
  Verdict Note(const v1::Event& event);

  Wish wish_;
  std::map<std::string, uint64_t> seen_;  // the last revision of each election
  bool opened_ = false;                   // everything has been reported once
};

}  // namespace tenure
