// What a transaction locks and reads.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/types.h"

namespace tenure {

struct LockSet {
  // Of one election, its row, and:
  struct Part {
    std::vector<SessionId> sessions;   // needed, with their places in it
    std::set<std::string> candidates;  // whose places are needed, too
    size_t departures = 0;             // terms that may end; each needs a successor
    bool create = false;               // create the election
    // If it does not exist: the identities whose created elections must be counted.
    std::set<std::string> creators = {};
    bool past = false;  // read its `Past`
  };

  std::map<ElectionName, Part> elections;
  std::vector<SessionId> sessions = {};   // needed besides those, leaders and successors
  std::set<SessionId> opened = {};        // opened by commands, unless they are retries
  std::set<std::string> identities = {};  // whose sessions and candidacies are counted
  // Wait about a second for locked elections instead of skipping them: overlapping share locks may
  // never leave them free, but let a queue through.
  // REQUIRES: one election.
  bool patient = false;
};

}  // namespace tenure
