// Converts the rows of a database, with columns in the order of storage/columns.h, to values.
//
// Written once for all dialects, over each dialect's type of row. Further columns of a statement
// follow those that are listed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/lineage.h"
#include "core/types.h"
#include "storage/store.h"

namespace tenure {

// A row that is being read. Bytes are valid until the next row is; the numbers of a NULL are zero.
template <typename Row>
concept ReadableRow = requires(const Row& row, size_t column) {
  { row.IsNull(column) } -> std::same_as<bool>;
  { row.Signed(column) } -> std::same_as<int64_t>;
  { row.Unsigned(column) } -> std::same_as<uint64_t>;
  { row.Bytes(column) } -> std::same_as<std::string_view>;
};

// --- Cells ---

DbTime Time(const ReadableRow auto& row, size_t column) { return {Duration(row.Signed(column))}; }

std::optional<DbTime> OptionalTime(const ReadableRow auto& row, size_t column) {
  return row.IsNull(column) ? std::nullopt : std::optional(Time(row, column));
}

Duration Span(const ReadableRow auto& row, size_t column) { return Duration(row.Signed(column)); }

std::string Text(const ReadableRow auto& row, size_t column) {
  return std::string(row.Bytes(column));
}

SessionId Id(const ReadableRow auto& row, size_t column) {
  SessionId id;
  const std::string_view bytes = row.Bytes(column);
  std::copy_n(bytes.begin(), std::min(bytes.size(), id.bytes.size()), id.bytes.begin());
  return id;
}

// --- Rows ---

// Objects, so that they can be passed as functions of one row.
inline constexpr auto ToName = [](const ReadableRow auto& row) {
  return ElectionName{Text(row, 0)};
};
inline constexpr auto ToPlace = [](const ReadableRow auto& row) {
  return PlaceKey{ToName(row), Id(row, 1)};
};
inline constexpr auto ToId = [](const ReadableRow auto& row) { return Id(row, 0); };

inline constexpr auto ToElection = [](const ReadableRow auto& row) {
  Election election;
  election.name.bytes = row.Bytes(0);
  election.term.value = row.Unsigned(1);
  election.revision.value = row.Unsigned(2);
  election.next_ticket.value = row.Unsigned(3);
  election.waiting = row.Unsigned(4);
  if (!row.IsNull(5)) {
    election.leader = Leader{Id(row, 5),   Text(row, 6), Span(row, 7),
                             Text(row, 8), Time(row, 9), {row.Unsigned(10)}};
  }
  election.settings = {Span(row, 11), Span(row, 12), Span(row, 13), Span(row, 14),
                       row.Unsigned(15)};
  election.paused = row.Unsigned(16) != 0;
  election.deleted = row.Unsigned(17) != 0;
  election.vacant_until = Time(row, 18);
  if (!row.IsNull(19)) election.appointment = Appointment{Text(row, 19), OptionalTime(row, 20)};
  election.cooling_until = Time(row, 21);
  election.wake_at = OptionalTime(row, 22);
  election.history_from.value = row.Unsigned(23);
  if (!row.IsNull(24)) {
    election.vacancy = Vacancy{static_cast<Cause>(row.Unsigned(24)), Time(row, 25)};
  }
  election.creator = row.Bytes(26);
  return election;
};
inline constexpr size_t kElectionColumns = 27;

// After the name: the first revision, the time of the last event, and that of an operator's last
// change.
inline constexpr auto ToPast = [](const ReadableRow auto& row) {
  Past past;
  if (!row.IsNull(1)) past.oldest = {{row.Unsigned(1)}};
  past.changed_at = std::max(OptionalTime(row, 2), OptionalTime(row, 3));
  return past;
};

// Then: whether the leader's session has not ended, and what is left of its lease.
inline constexpr auto ToView = [](const ReadableRow auto& row) {
  return ElectionView{ToElection(row), row.Unsigned(kElectionColumns) != 0,
                      Span(row, kElectionColumns + 1)};
};
inline constexpr size_t kViewColumns = kElectionColumns + 2;

// `first`: the first of its columns.
Candidacy ToCandidacy(const ReadableRow auto& row, size_t first = 0) {
  Candidacy candidacy;
  candidacy.session = Id(row, first);
  candidacy.ticket.value = row.Unsigned(first + 1);
  candidacy.priority = ~static_cast<int32_t>(row.Signed(first + 2));
  candidacy.value = row.Bytes(first + 3);
  candidacy.call_id.value = row.Unsigned(first + 4);
  candidacy.candidate = row.Bytes(first + 5);
  candidacy.asked_again = row.Unsigned(first + 6) != 0;
  return candidacy;
}
inline constexpr size_t kCandidacyColumns = 7;

// Then: the length of the lease, what is left of it, and until when the candidate cools down.
QueueEntry ToQueueEntry(const ReadableRow auto& row, size_t first = 0) {
  const size_t next = first + kCandidacyColumns;
  QueueEntry entry{ToCandidacy(row, first), Span(row, next + 1), OptionalTime(row, next + 2)};
  entry.candidacy.lease_ttl = Span(row, next);
  return entry;
}

inline constexpr auto ToSession = [](const ReadableRow auto& row, size_t first = 0) {
  Session session{Id(row, first), Text(row, first + 1), Span(row, first + 2)};
  session.ended = static_cast<Cause>(row.Unsigned(first + 3));
  session.ended_at = Time(row, first + 4);
  session.opened_at = Time(row, first + 5);
  session.lease_ttl_asked = Span(row, first + 6);
  session.lease_ttl_since = Time(row, first + 7);
  session.identity = row.Bytes(first + 8);
  session.home.value = row.Unsigned(first + 9);
  session.moves = row.Unsigned(first + 10);
  return session;
};
inline constexpr size_t kSessionColumns = 11;

// Then: what is left of its lease.
inline constexpr auto ToSessionView = [](const ReadableRow auto& row) {
  return SessionView{ToSession(row), Span(row, kSessionColumns), {}, {}};
};

inline constexpr auto ToEvent = [](const ReadableRow auto& row) {
  Event event;
  event.election.bytes = row.Bytes(0);
  event.revision.value = row.Unsigned(1);
  event.type = static_cast<EventType>(row.Unsigned(2));
  event.cause = static_cast<Cause>(row.Unsigned(3));
  event.term.value = row.Unsigned(4);
  event.leader = Leader{Id(row, 5), Text(row, 6), Span(row, 7), Text(row, 8), Time(row, 9), {}};
  event.at = Time(row, 10);
  event.successor = row.Bytes(11);
  return event;
};
inline constexpr size_t kEventColumns = 12;

// Then: its offset.
inline constexpr auto ToFeedEntry = [](const ReadableRow auto& row) {
  return FeedEntry{row.Unsigned(kEventColumns), ToEvent(row)};
};

inline constexpr auto ToEpoch = [](const ReadableRow auto& row) {
  return Epoch{.number = row.Unsigned(0),
               .token = row.Unsigned(1),
               .server = Text(row, 2),
               .lossless = row.Unsigned(3) != 0,
               .state = static_cast<Epoch::State>(row.Unsigned(4)),
               .began_at = Time(row, 5),
               .repairer = row.Unsigned(6),
               .repair_until = Time(row, 7),
               .guards_write = row.Unsigned(8) != 0};
};

// A partition: its number, offset and epoch. `first`: the first of these columns.
void AddPartition(const ReadableRow auto& row, Partitions& partitions, size_t first = 0) {
  partitions.offsets.at(row.Unsigned(first)) = row.Unsigned(first + 1);
  partitions.epoch = row.Unsigned(first + 2);
}

// A term: its number, candidate, beginning, end, and why it ended.
inline constexpr auto ToTermRecord = [](const ReadableRow auto& row) {
  return TermRecord{{row.Unsigned(0)},
                    Text(row, 1),
                    Time(row, 2),
                    OptionalTime(row, 3),
                    static_cast<Cause>(row.Unsigned(4))};
};

inline constexpr auto ToAdminRecord = [](const ReadableRow auto& row) {
  return AdminRecord{row.Unsigned(0),
                     {ElectionName{Text(row, 1)},
                      static_cast<AdminAction>(row.Unsigned(2)),
                      {row.Unsigned(3)},
                      Time(row, 4),
                      Text(row, 5),
                      {Text(row, 6), Text(row, 7)}}};
};

// A row of the table of homes.
inline constexpr auto ToHomeRow = [](const ReadableRow auto& row) {
  return HomeRow{{row.Unsigned(0)}, row.Unsigned(1), row.Unsigned(2) != 0,
                 row.Unsigned(3),   Span(row, 4),    {Text(row, 5), Text(row, 6)}};
};
inline constexpr auto ToNumberedDeparture = [](const ReadableRow auto& row) {
  return NumberedDeparture{row.Unsigned(0), Id(row, 1), row.Unsigned(2)};
};

// The first row, if there is one.
template <typename T>
std::optional<T> First(std::vector<T> all) {
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

}  // namespace tenure
