#include "core/lineage.h"

#include <algorithm>

namespace tenure {
namespace {

constexpr uint64_t kEpochStepMax = uint64_t{1} << 32;

// What contradicts the memory; empty if nothing does.
std::string Contradiction(const HistoryMemory& memory, const HistorySight& sight) {
  if (memory.home_went_back) return "it has lost what this replica wrote about itself";
  for (size_t partition = 0; partition < memory.seen.size(); ++partition) {
    if (sight.offsets[partition] >= memory.seen[partition]) continue;
    return "partition " + std::to_string(partition) + " was at change " +
           std::to_string(memory.seen[partition]) + ", and is at " +
           std::to_string(sight.offsets[partition]);
  }
  if (!sight.remembered || sight.remembered->token != memory.token) {
    return "it has not had epoch " + std::to_string(memory.epoch) +
           ", in which this replica worked";
  }
  return "";
}

}  // namespace

bool IsAnotherService(const HistoryMemory& memory, const HistorySight& sight) {
  const bool other_key = !memory.session_key.empty() && !sight.session_key.empty() &&
                         sight.session_key != memory.session_key &&
                         !memory.former_keys.contains(sight.session_key);
  // A database that was wiped gets a new key after its terms were raised.
  const bool same_history = sight.remembered && sight.remembered->token == memory.token;
  return other_key && !same_history;
}

Judgement Judge(const HistoryMemory& memory, const HistorySight& sight) {
  const bool lost = sight.latest && sight.latest->state == Epoch::State::kLost;
  // A loss older than the remembered epoch has been repaired, and came back from a backup.
  if (lost && sight.latest->number >= memory.epoch) {
    return {Verdict::kIsLost, "another replica found that commits were lost"};
  }
  // A loss before the terms were raised no longer matters.
  const bool knows = memory.epoch > 0 && sight.repaired <= memory.epoch;
  if (knows) {
    const std::string why = Contradiction(memory, sight);
    if (!why.empty()) return {Verdict::kLost, why};
  }
  if (!sight.latest) return {Verdict::kBegins, ""};
  if (sight.latest->server == sight.server.history) {
    // What the epoch says about the server must stay true.
    const bool same = sight.latest->lossless == sight.server.lossless &&
                      sight.latest->guards_write == sight.server.guards_write;
    return {same ? Verdict::kGoesOn : Verdict::kBegins, ""};
  }
  // A copy's claim to be lossless proves nothing to a replica that remembers nothing: the source
  // may have stopped waiting for its copies before it died.
  if (sight.latest->lossless && (memory.epoch > 0 || memory.somebody_lives == true)) {
    return {Verdict::kBegins, ""};
  }
  if (sight.latest->lossless && !memory.somebody_lives) return {Verdict::kUnknown, ""};
  return {Verdict::kLost, "another server, which may lack the latest commits, goes on with it: " +
                              sight.server.history + " after " + sight.latest->server};
}

Epoch NextEpoch(const HistoryMemory& memory, const HistorySight& sight, Epoch::State state,
                uint64_t token) {
  const uint64_t latest = sight.latest ? sight.latest->number : 0;
  return {.number = std::max(latest, memory.epoch) + 1 + token % kEpochStepMax,
          .token = token,
          .server = sight.server.history,
          .lossless = sight.server.lossless,
          .state = state,
          .began_at = sight.now,
          .guards_write = sight.server.guards_write};
}

}  // namespace tenure
