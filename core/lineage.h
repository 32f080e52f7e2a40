// Whether a database still has the history that a replica knows.
//
// A database may lose commits: a backup is restored, a server without the latest ones is promoted,
// an old primary comes back alone. The terms granted in those commits would be granted again. So
// the database's history is divided into epochs, one row each. A new one begins whenever another
// server goes on with the history, or commits were lost. Every commit of a change proves, by its
// partition's row, that it is made in the epoch that its replica knows, and after every change that
// the replica has seen.
//
// Pure: no I/O, no clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/types.h"

namespace tenure {

// How many changes each partition has had. Its order is that of the commits.
using PartitionOffsets = std::array<uint64_t, kPartitionCount>;

struct Epoch {
  enum class State : uint8_t {
    kOpen = 0,
    kLost = 1,      // commits were lost: nobody serves until the terms have been raised
    kRepaired = 2,  // open, and all terms in it are higher than any before
  };

  // Rises by random steps, so two histories share a number only if one is a copy of the other:
  // equal numbers mean equal tokens.
  uint64_t number = 0;
  uint64_t token = 0;  // random, like the step to its number
  // The server or cluster whose history continues here. Compared, not parsed.
  std::string server = {};
  // Any server that is promoted in its place has all of its commits.
  bool lossless = false;
  State state = State::kOpen;
  DbTime began_at = {};
  // kLost: the replica that raises the terms, and until when it has the turn.
  uint64_t repairer = 0;
  DbTime repair_until = {};
  // Fence guards write, not only lock: the cluster compares its servers' transactions at commit.
  bool guards_write = false;

  bool operator==(const Epoch&) const = default;
};

// The server that answers.
struct ServerIdentity {
  uint64_t number = 0;       // rises whenever this process goes on with another server
  std::string name = {};     // for people
  std::string address = {};  // HOST:PORT, or the path of a file
  std::string history = {};
  bool lossless = false;
  bool guards_write = false;
  std::vector<std::string> warnings = {};  // what puts commits at risk
};

// A database's own account of its history, read under the locks of all partitions.
struct HistoryReading {
  ServerIdentity server;
  PartitionOffsets offsets{};
  std::optional<Epoch> latest;      // nothing in a new database
  std::optional<Epoch> remembered;  // the epoch of the number that was asked for
  uint64_t repaired = 0;            // the number of the last epoch that was repaired; 0: none
  DbTime now;
  // Two databases share it only if one is a copy. Empty in one that no replica has used yet.
  std::string session_key = {};
};

// What a replica has seen. Nothing yet, if `epoch` is 0.
struct HistoryMemory {
  uint64_t epoch = 0;
  uint64_t token = 0;
  PartitionOffsets seen{};
  std::string session_key = {};  // of the database; empty: not known
  // Keys that it had earlier in this replica's life. It was wiped since; a backup may restore one.
  std::set<std::string> former_keys = {};
  // The replica's row in the table of homes is older than what it wrote there
  // (core/homes/own_row.h).
  bool home_went_back = false;
  // Whether another replica has beaten on the server that answers now: it lived through the change
  // of servers, and would have noticed a loss. Nothing: not known yet.
  std::optional<bool> somebody_lives = {};

  void Saw(const std::string& key) {
    if (key.empty() || key == session_key) return;
    if (!session_key.empty()) former_keys.insert(session_key);
    session_key = key;
  }
};

enum class Finding {
  kGoesOn,   // the latest epoch is the one to work in
  kBegins,   // the first epoch, or that of a server which has every commit of the one before
  kLost,     // commits were, or may have been, lost: an epoch of that state must begin
  kIsLost,   // a replica has already found a loss
  kUnknown,  // depends on `somebody_lives`
};
struct Assessment {
  Finding finding = Finding::kGoesOn;
  std::string why = {};  // for the log; empty if nothing was lost
};

// Whether this is another service's database: neither its key nor its history is the remembered
// one. It must not be used: a process serves one service for its whole life.
[[nodiscard]] bool IsAnotherService(const HistoryMemory& memory, const HistoryReading& reading);

[[nodiscard]] Assessment Assess(const HistoryMemory& memory, const HistoryReading& reading);

// The epoch that begins with a finding of kBegins or kLost. Higher than all that are known.
[[nodiscard]] Epoch NextEpoch(const HistoryMemory& memory, const HistoryReading& reading,
                              Epoch::State state, uint64_t token);

}  // namespace tenure
