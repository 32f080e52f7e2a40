// What the homes of sessions ask of a database; core/homes/own_row.h, core/homes/kept_sessions.h
// and core/homes/home_watch.h say why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/homes/home_row.h"
#include "core/types.h"
#include "storage/law_store.h"

namespace tenure {

// All that a replica does every second, in one message.
struct BeatOrder {
  HomeId home;
  // The row gets this number if it is not dead, and its beat is between the last number that was
  // acknowledged and this one.
  uint64_t number = 0;
  uint64_t acknowledged = 0;
  size_t due_max = 0;  // of each kind of work
};
struct BeatReport {
  bool beaten = false;
  std::optional<HomeRow> own = {};   // read after the beat; nothing: there is no row
  std::vector<HomeRow> living = {};  // all others that are not dead
  std::vector<HomeId> gone = {};     // dead or missing, and still the home of sessions
  DueWork due = {};                  // read after the beat
};

// A departure, as its home reads it. Numbers rise by one in each home.
struct NumberedDeparture {
  uint64_t number = 0;
  SessionId session;
  uint64_t moves = 0;

  bool operator==(const NumberedDeparture&) const = default;
};

// The error of a transaction whose witness failed (CommitRules).
inline constexpr char kHomeDoesNotStand[] =
    "the row of this replica in the table of homes is not as it left it";

// A dead home is forgotten this long after its death, once it is the home of no session.
inline constexpr Duration kDeadHomesKeptFor = std::chrono::hours(30 * 24);

// Thread-safe, like all of a store.
class HomeStore {
 public:
  virtual ~HomeStore() = default;

  // Adds the row of a new home. False if the id is taken.
  virtual Result<bool> BeginHome(const HomeRow& home) = 0;
  // Beats, and then reads. Sent once: after an error, the beat may have been made.
  virtual Result<BeatReport> Beat(const BeatOrder& order) = 0;
  // The departures of a home with numbers higher than `after`, in order, at most `limit`. Deletes
  // those up to `after`: they are known.
  virtual Result<std::vector<NumberedDeparture>> ReadDepartures(HomeId home, uint64_t after,
                                                                size_t limit) = 0;
  // Declares a home dead if its beat is still `beat`. Returns whether it is dead now.
  virtual Result<bool> DeclareDead(HomeId home, uint64_t beat) = 0;
  // The sessions of a home after `after`, by id, that have not ended.
  virtual Result<std::vector<Session>> ListKept(HomeId home, const SessionId& after,
                                                size_t limit) = 0;
  // Sessions of a home that have not ended, whose leases are no longer than `lease_max`.
  virtual Result<std::vector<SessionId>> ListOrphans(HomeId home, Duration lease_max,
                                                     size_t limit) = 0;
};

}  // namespace tenure
