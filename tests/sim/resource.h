// A resource that leaders write to: it refuses a lower term than it has seen. Whatever else goes
// wrong, no older leader's write may follow a newer one's.
#pragma once

#include <map>
#include <optional>

#include "tests/sim/auditor.h"
#include "tests/sim/world.h"

namespace tenure::sim {

class Resource {
 public:
  Resource(World& world, const Auditor& auditor) : world_(world), auditor_(auditor) {}

  void Write(const ElectionName& election, Term term, const SessionId& session) {
    Newest& newest = newest_[election];
    if (term < newest.term && !world_.mutation.resource_without_fence) {
      world_.Say("a write of {} in term {} of {} is refused", NameOf(session), term.value,
                 election.bytes);
      return;
    }
    if (term < newest.term || (term == newest.term && session != newest.session)) {
      world_.Violate("{} wrote in term {} of {} after {} did in term {}", NameOf(session),
                     term.value, election.bytes, NameOf(newest.session), newest.term.value);
    }
    if (auditor_.GrantedTo(election, term) != session) {
      world_.Violate("{} wrote in term {} of {}, which is not its own", NameOf(session), term.value,
                     election.bytes);
    }
    newest = {term, session};
    ++writes;
  }

  uint64_t writes = 0;

 private:
  struct Newest {
    Term term;
    SessionId session;
  };

  World& world_;
  const Auditor& auditor_;
  std::map<ElectionName, Newest> newest_;
};

}  // namespace tenure::sim
