#include "core/lineage.h"

#include <algorithm>

namespace tenure {
namespace {

constexpr uint64_t kEpochStepMax = uint64_t{1} << 32;

// What contradicts the memory; empty if nothing does.
std::string Contradiction(const HistoryMemory& memory, const HistoryReading& reading) {
  if (memory.home_went_back) return "it has lost what this replica wrote about itself";
  for (size_t partition = 0; partition < memory.seen.size(); ++partition) {
    if (reading.offsets[partition] >= memory.seen[partition]) continue;
    return "partition " + std::to_string(partition) + " was at change " +
           std::to_string(memory.seen[partition]) + ", and is at " +
           std::to_string(reading.offsets[partition]);
  }
  if (!reading.remembered || reading.remembered->token != memory.token) {
    return "it has not had epoch " + std::to_string(memory.epoch) +
           ", in which this replica worked";
  }
  return "";
}

}  // namespace

bool IsAnotherService(const HistoryMemory& memory, const HistoryReading& reading) {
  const bool other_key = !memory.session_key.empty() && !reading.session_key.empty() &&
                         reading.session_key != memory.session_key &&
                         !memory.former_keys.contains(reading.session_key);
  // A database that was wiped gets a new key after its terms were raised.
  const bool same_history = reading.remembered && reading.remembered->token == memory.token;
  return other_key && !same_history;
}

Assessment Assess(const HistoryMemory& memory, const HistoryReading& reading) {
  const bool lost = reading.latest && reading.latest->state == Epoch::State::kLost;
  // A loss older than the remembered epoch has been repaired, and came back from a backup.
  if (lost && reading.latest->number >= memory.epoch) {
    return {Finding::kIsLost, "another replica found that commits were lost"};
  }
  // A loss before the terms were raised no longer matters.
  const bool knows = memory.epoch > 0 && reading.repaired <= memory.epoch;
  if (knows) {
    const std::string why = Contradiction(memory, reading);
    if (!why.empty()) return {Finding::kLost, why};
  }
  if (!reading.latest) return {Finding::kBegins, ""};
  if (reading.latest->server == reading.server.history) {
    // What the epoch says about the server must stay true.
    const bool same = reading.latest->lossless == reading.server.lossless &&
                      reading.latest->guards_write == reading.server.guards_write;
    return {same ? Finding::kGoesOn : Finding::kBegins, ""};
  }
  // A copy's claim to be lossless proves nothing to a replica that remembers nothing: the source
  // may have stopped waiting for its copies before it died.
  if (reading.latest->lossless && (memory.epoch > 0 || memory.somebody_lives == true)) {
    return {Finding::kBegins, ""};
  }
  if (reading.latest->lossless && !memory.somebody_lives) return {Finding::kUnknown, ""};
  return {Finding::kLost, "another server, which may lack the latest commits, goes on with it: " +
                              reading.server.history + " after " + reading.latest->server};
}

Epoch NextEpoch(const HistoryMemory& memory, const HistoryReading& reading, Epoch::State state,
                uint64_t token) {
  const uint64_t latest = reading.latest ? reading.latest->number : 0;
  return {.number = std::max(latest, memory.epoch) + 1 + token % kEpochStepMax,
          .token = token,
          .server = reading.server.history,
          .lossless = reading.server.lossless,
          .state = state,
          .began_at = reading.now,
          .guards_write = reading.server.guards_write};
}

}  // namespace tenure
