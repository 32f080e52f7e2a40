// What is written into the columns of storage/columns.h, in their order, for all dialects.
// storage/rows.h reads it back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "core/types.h"

namespace tenure {

// Nothing is NULL. Bytes must outlive it.
using Cell = std::variant<std::monostate, int64_t, uint64_t, std::string_view>;

inline Cell CellOf(uint64_t number) { return number; }
inline Cell CellOf(Duration duration) { return int64_t{duration.count()}; }
inline Cell CellOf(DbTime time) { return CellOf(time.since_epoch); }
inline Cell CellOf(const std::string& bytes) { return std::string_view(bytes); }
inline Cell CellOf(const SessionId& id) {
  return std::string_view(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}
inline Cell CellOf(Cause cause) { return static_cast<uint64_t>(cause); }
template <typename T>
Cell CellOf(const std::optional<T>& value) {
  return value ? CellOf(*value) : Cell();
}

// Without the name.
[[nodiscard]] inline std::array<Cell, 26> CellsOf(const Election& election) {
  const auto& leader = election.leader;
  const Settings& settings = election.settings;
  const auto& appointment = election.appointment;
  const auto& vacancy = election.vacancy;
  return {CellOf(election.term.value),
          CellOf(election.revision.value),
          CellOf(election.next_ticket.value),
          CellOf(election.waiting),
          leader ? CellOf(leader->session) : Cell(),
          leader ? CellOf(leader->candidate) : Cell(),
          leader ? CellOf(leader->lease_ttl) : Cell(),
          leader ? CellOf(leader->value) : Cell(),
          leader ? CellOf(leader->elected_at) : Cell(),
          leader ? CellOf(leader->call_id.value) : Cell(),
          CellOf(settings.lock_delay),
          CellOf(settings.min_hold),
          CellOf(settings.lease_ttl_default),
          CellOf(settings.lease_ttl_max),
          CellOf(settings.queue_max),
          CellOf(uint64_t{election.paused}),
          CellOf(uint64_t{election.deleted}),
          CellOf(election.vacant_until),
          appointment ? CellOf(appointment->candidate) : Cell(),
          appointment ? CellOf(appointment->until) : Cell(),
          CellOf(election.cooling_until),
          CellOf(election.wake_at),
          CellOf(election.history_from.value),
          vacancy ? CellOf(vacancy->cause) : Cell(),
          vacancy ? CellOf(vacancy->since) : Cell(),
          CellOf(election.creator)};
}

// With `state`.
[[nodiscard]] inline std::array<Cell, 12> CellsOf(const Session& session) {
  return {CellOf(session.id),
          CellOf(session.candidate),
          CellOf(session.lease_ttl),
          CellOf(session.ended),
          CellOf(session.ended_at),
          CellOf(session.opened_at),
          CellOf(session.lease_ttl_asked),
          CellOf(session.lease_ttl_since),
          CellOf(session.identity),
          CellOf(session.home.value),
          CellOf(session.moves),
          CellOf(uint64_t{session.ended != Cause::kNone})};
}

[[nodiscard]] inline std::array<Cell, 7> CellsOf(const Candidacy& candidacy) {
  return {CellOf(candidacy.session),
          CellOf(candidacy.ticket.value),
          Cell(int64_t{~candidacy.priority}),
          CellOf(candidacy.value),
          CellOf(candidacy.call_id.value),
          CellOf(candidacy.candidate),
          CellOf(uint64_t{candidacy.asked_again})};
}

[[nodiscard]] inline std::array<Cell, 12> CellsOf(const Event& event) {
  const Leader& leader = event.leader;
  return {CellOf(event.election.bytes),
          CellOf(event.revision.value),
          Cell(static_cast<uint64_t>(event.type)),
          CellOf(event.cause),
          CellOf(event.term.value),
          CellOf(leader.session),
          CellOf(leader.candidate),
          CellOf(leader.lease_ttl),
          CellOf(leader.value),
          CellOf(leader.elected_at),
          CellOf(event.at),
          CellOf(event.successor)};
}

}  // namespace tenure
