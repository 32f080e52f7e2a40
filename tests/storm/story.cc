#include "tests/storm/story.h"

#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

namespace tenure::testing::storm {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> Rows(const DatabaseServer& database, const std::string& sql) {
  const Finished answer = database.Query(sql);
  EXPECT_EQ(answer.exit_code, 0) << answer.errors;
  std::vector<Fields> rows;
  std::istringstream lines(answer.output);
  for (std::string line; std::getline(lines, line);) {
    Fields fields;
    std::istringstream columns(line + "\t");
    for (std::string column; std::getline(columns, column, '\t');) fields.push_back(column);
    rows.push_back(std::move(fields));
  }
  return rows;
}

bool Is(const ChangeRow& change, v1::Change::Action action) { return change.action == action; }

// "session <handle> of 'c'".
std::string HandleIn(const ChangeRow& ended_session) { return ended_session.detail.substr(8, 16); }

std::string Text(uint64_t revision, v1::Event::Type type, const std::string& candidate,
                 uint64_t term, v1::Cause cause, int64_t at_us) {
  std::string text = std::to_string(revision) + " " + v1::Event::Type_Name(type).substr(5) + " " +
                     candidate + " " + std::to_string(term);
  if (cause != v1::CAUSE_UNSPECIFIED) text += " " + v1::Cause_Name(cause).substr(6);
  return text + " at " + std::to_string(at_us);
}

}  // namespace

void KeepTrimmedEvents(const DatabaseServer& database) {
  const Finished made = database.Query(
      "CREATE TABLE tenure.trimmed_events LIKE tenure.events;"
      "CREATE TRIGGER tenure.keep_trimmed BEFORE DELETE ON tenure.events FOR EACH ROW"
      " INSERT INTO tenure.trimmed_events (election, revision, type, cause, term, session,"
      "   candidate, lease_ttl_us, value, elected_at_us, at_us, lane, position, successor)"
      " VALUES (OLD.election, OLD.revision, OLD.type, OLD.cause, OLD.term, OLD.session,"
      "   OLD.candidate, OLD.lease_ttl_us, OLD.value, OLD.elected_at_us, OLD.at_us, OLD.lane,"
      "   OLD.position, OLD.successor)");
  ASSERT_EQ(made.exit_code, 0) << made.errors;
}

std::vector<EventRow> ReadEvents(const DatabaseServer& database) {
  const std::string columns =
      "SELECT election, revision, type, cause, term, LOWER(LEFT(HEX(session), 16)), candidate,"
      " successor, at_us FROM tenure.";
  std::vector<EventRow> events;
  for (const Fields& row : Rows(database, columns + "events UNION ALL " + columns +
                                              "trimmed_events ORDER BY election, revision")) {
    events.push_back({row[0], std::stoull(row[1]), static_cast<v1::Event::Type>(std::stoi(row[2])),
                      static_cast<v1::Cause>(std::stoi(row[3])), std::stoull(row[4]), row[5],
                      row[6], row[7], std::stoll(row[8])});
  }
  return events;
}

std::vector<ChangeRow> ReadChanges(const DatabaseServer& database) {
  std::vector<ChangeRow> changes;
  for (const Fields& row :
       Rows(database,
            "SELECT election, action, term, at_us, detail, reason FROM tenure.admin_changes"
            " ORDER BY at_us, number")) {
    changes.push_back(
        {row[0], std::stoi(row[1]), std::stoull(row[2]), std::stoll(row[3]), row[4], row[5]});
  }
  return changes;
}

std::string Text(const EventRow& event) {
  return Text(event.revision, event.type, event.candidate, event.term, event.cause, event.at_us);
}

std::string Text(const v1::Event& event) {
  return Text(event.revision(), event.type(), event.leadership().candidate(),
              event.leadership().term(), event.cause(),
              google::protobuf::util::TimeUtil::TimestampToMicroseconds(event.time()));
}

void ExpectOneLeaderAtATime(const std::vector<EventRow>& events) {
  uint64_t term = 0;
  std::optional<std::string> leader;  // its session
  for (size_t i = 0; i < events.size(); ++i) {
    const EventRow& event = events[i];
    SCOPED_TRACE(Text(event));
    ASSERT_EQ(event.revision, i + 1);
    if (i > 0) {
      EXPECT_GE(event.at_us, events[i - 1].at_us);
    }
    if (event.type == v1::Event::TYPE_ELECTED) {
      ASSERT_FALSE(leader) << "two leaders";
      leader = event.handle;
      ++term;
    } else {
      ASSERT_TRUE(leader) << "nobody led";
      ASSERT_EQ(event.handle, *leader) << "another led";
      ASSERT_EQ(event.type == v1::Event::TYPE_VACATED, event.cause != v1::CAUSE_UNSPECIFIED);
      if (event.type == v1::Event::TYPE_VACATED) leader.reset();
    }
    ASSERT_EQ(event.term, term);
    ASSERT_EQ(event.type == v1::Event::TYPE_HANDOVER_ASKED, !event.successor.empty());
  }
}

void ExpectNoGrantWhilePaused(const std::vector<EventRow>& events,
                              const std::vector<ChangeRow>& changes) {
  const ChangeRow* paused = nullptr;
  for (const ChangeRow& change : changes) {
    SCOPED_TRACE(change.reason);
    if (Is(change, v1::Change::ACTION_PAUSED)) {
      ASSERT_EQ(paused, nullptr) << "paused twice";
      paused = &change;
    }
    const bool ends = Is(change, v1::Change::ACTION_RESUMED) ||
                      (paused != nullptr && Is(change, v1::Change::ACTION_DELETED));
    if (!ends) continue;
    ASSERT_NE(paused, nullptr) << "resumed, but not paused";
    EXPECT_EQ(change.term, paused->term) << "the term rose while the election was paused";
    for (const EventRow& event : events) {
      const bool meanwhile = event.at_us > paused->at_us && event.at_us < change.at_us;
      EXPECT_FALSE(meanwhile && event.type == v1::Event::TYPE_ELECTED) << Text(event);
    }
    paused = nullptr;
  }
}

void ExpectEndsByOperators(const std::vector<EventRow>& events,
                           const std::vector<ChangeRow>& changes,
                           const std::vector<ChangeRow>& ended_sessions) {
  std::map<uint64_t, int> deposed;
  std::map<uint64_t, int> deleted;
  std::map<uint64_t, int> appointed_away;
  for (const ChangeRow& change : changes) {
    if (Is(change, v1::Change::ACTION_DEPOSED)) ++deposed[change.term];
    if (Is(change, v1::Change::ACTION_DELETED)) ++deleted[change.term];
    if (Is(change, v1::Change::ACTION_APPOINTED)) ++appointed_away[change.term];
  }
  for (const EventRow& event : events) {
    if (event.type != v1::Event::TYPE_VACATED) continue;
    SCOPED_TRACE(Text(event));
    if (event.cause == v1::CAUSE_DEPOSED) {
      const bool with_session = std::ranges::any_of(ended_sessions, [&](const ChangeRow& change) {
        return HandleIn(change) == event.handle;
      });
      EXPECT_LE(deposed[event.term], 1);
      EXPECT_TRUE(deposed[event.term] == 1 || with_session) << "by nobody";
    } else {
      EXPECT_EQ(deposed[event.term], 0);
    }
    if (event.cause == v1::CAUSE_DELETED) {
      EXPECT_GE(deleted[event.term], 1);  // it may be created and deleted without a grant
    }
    if (event.cause == v1::CAUSE_APPOINTED_AWAY) {
      EXPECT_GE(appointed_away[event.term], 1);
    }
  }
}

void ExpectNoGrantToEndedSessions(const std::vector<EventRow>& events,
                                  const std::vector<ChangeRow>& ended_sessions) {
  std::map<std::string, int64_t> ended;
  for (const ChangeRow& change : ended_sessions) {
    EXPECT_TRUE(ended.emplace(HandleIn(change), change.at_us).second) << "ended twice";
  }
  for (const EventRow& event : events) {
    const auto found = ended.find(event.handle);
    if (event.type != v1::Event::TYPE_ELECTED || found == ended.end()) continue;
    EXPECT_LE(event.at_us, found->second) << Text(event) << " of a session that was over";
  }
}

}  // namespace tenure::testing::storm
