// What the tables show about a run, and whether it can be true.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/database_server.h"
#include "tests/support/tenured.h"

namespace tenure::testing::storm {

// One row of `events`.
struct EventRow {
  std::string election;
  uint64_t revision = 0;
  v1::Event::Type type = v1::Event::TYPE_UNSPECIFIED;
  v1::Cause cause = v1::CAUSE_UNSPECIFIED;
  uint64_t term = 0;
  std::string handle;
  std::string candidate;
  std::string successor;
  int64_t at_us = 0;
};

// One row of `admin_changes`.
struct ChangeRow {
  std::string election;
  int action = 0;  // as in v1::Change
  uint64_t term = 0;
  int64_t at_us = 0;
  std::string detail;
  std::string reason;
};

// Keeps the events that the trimming of history takes away. To be called before anything happens.
void KeepTrimmedEvents(const DatabaseServer& database);

// All events ever, by election and revision.
std::vector<EventRow> ReadEvents(const DatabaseServer& database);
// By time.
std::vector<ChangeRow> ReadChanges(const DatabaseServer& database);

// "3 VACATED c1 2 RESIGNED at 1234", as an observer gets it.
std::string Text(const EventRow& event);
std::string Text(const v1::Event& event);

// Revisions have no gaps, terms rise by one, at most one leads, and each change names the leader.
// REQUIRES: the events of one election.
void ExpectOneLeaderAtATime(const std::vector<EventRow>& events);

// No grant is made while an election is paused. REQUIRES: the rows of one election.
void ExpectNoGrantWhilePaused(const std::vector<EventRow>& events,
                              const std::vector<ChangeRow>& changes);

// Each deposition and deletion ended one term, and no term ended so without an operator's call.
// REQUIRES: the rows of one election.
void ExpectEndsByOperators(const std::vector<EventRow>& events,
                           const std::vector<ChangeRow>& changes,
                           const std::vector<ChangeRow>& ended_sessions);

// No session that an operator has ended was elected after that.
void ExpectNoGrantToEndedSessions(const std::vector<EventRow>& events,
                                  const std::vector<ChangeRow>& ended_sessions);

}  // namespace tenure::testing::storm
