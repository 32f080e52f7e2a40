// An incarnation's own row in the table of homes: numbers its writes, knows how long its beat is
// good, and keeps the service clock. Pure: time is an argument.
//
// As in Ismail et al. (2015), others take a replica for dead when its counter stops. Like a Chubby
// master with its lease, the replica stops serving before they may.
//
//   1. One write at a time, each sent once, with a number. The database makes it if the row is not
//      dead and its beat is a number from the last acknowledged one to the one before this write:
//      any of these may be ours, as replies get lost.
//   2. Only a beat extends goodness: to 0.9 H from before it was sent, once the replica knows every
//      departure that the reply shows. So an answer from memory knows of all sessions that had left
//      when the beat was made. If the beat were refused until the departures are known, it would
//      never be made on a slow database while sessions leave.
//   3. Since nobody else advances the row, a lower number than the acknowledged one, or fewer
//      departures than the known ones, mean that the database went back.
//   4. If a write changed nothing, and the row has its number or a higher one, a copy of this
//      machine has written the row. Two copies without numbers in doubt send the same number next,
//      and the database makes only one of the two writes: the other copy ends. A copy that has
//      numbers in doubt cannot tell the other's from these, so its next write is made all the same.
//      Then both have had writes acknowledged, and both may be good, until one without numbers in
//      doubt writes: the row is ahead of it, and it ends. While both lose replies, neither notices.
//
// Not safe to use from two threads at once.
#pragma once

#include <cstdint>
#include <optional>

#include "core/homes/home_row.h"
#include "core/homes/service_clock.h"

namespace tenure {

// How long a beat is good for. A replica beats three times as often.
inline constexpr Duration kHomeGoodFor = std::chrono::seconds(3);

class OwnRow {
 public:
  // The database makes it if the row is not dead and acknowledged <= beat < number.
  struct Write {
    HomeId home;
    uint64_t number = 0;
    uint64_t acknowledged = 0;
    uint64_t departures = 0;  // known before it was sent
    HomeTime sent;
  };

  // What the row says after a beat.
  enum class Verdict {
    kMade,
    kAgain,     // it changed nothing, and may be tried again
    kDead,      // it was declared dead: this incarnation has ended
    kOver,      // a copied machine has written it: this incarnation has ended
    kWentBack,  // the database has lost commits
  };

  OwnRow(HomeId id, Duration good_for) : id_(id), good_for_(good_for) {}

  // The next write, to be sent once: if a driver repeated it, the second would find the number of
  // the first, and take it for a copied machine's. One of the four functions below ends it.
  // REQUIRES: no write is under way.
  [[nodiscard]] Write Begin(HomeTime now);
  // Acknowledged, as a beat. `now` is no earlier than the reply. REQUIRES: every departure that the
  // reply shows is known.
  void OnBeat(const Write& write, HomeTime now);
  // Acknowledged, but the beat is not good for longer: the write was an adoption, or a beat that
  // showed departures which the replica has yet to read. Clears doubt, and nothing else.
  void OnNumbered(const Write& write);
  // Its reply was lost, so it may have been made, or may yet be: its number is in doubt.
  void OnUnknown(const Write& /*write*/) {}
  // It was not made and never will be. The next write takes its number, so that the number is not
  // in doubt. Earlier ones may be.
  void OnRefused(const Write& write);

  // All departures up to this number have been read.
  void Knows(uint64_t departures);

  [[nodiscard]] HomeId id() const { return id_; }
  [[nodiscard]] uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] uint64_t departures() const { return departures_; }  // known
  [[nodiscard]] Duration good_for() const { return good_for_; }
  [[nodiscard]] bool GoodAt(HomeTime now) const { return now < good_until_; }
  [[nodiscard]] HomeTime good_until() const { return good_until_; }

  // Runs while the beat is good. Pauses otherwise, and goes on where it was.
  [[nodiscard]] ServiceTime ServiceTimeAt(HomeTime now) const;
  // The earliest time at which the service clock can show this, if the beat stays good. If that has
  // passed, and the clock does not show it, the beat is not good: ask again after the next one.
  [[nodiscard]] HomeTime When(ServiceTime time) const;

  // `row` was read after the write, by a read that sees all commits that were acknowledged before.
  // Nothing: there is no such row. `made`: the write changed the row.
  [[nodiscard]] static Verdict Judge(const Write& write, bool made,
                                     const std::optional<HomeRow>& row);

 private:
  HomeId id_;
  Duration good_for_;
  uint64_t number_ = 0;        // of the last write, unless it was refused
  uint64_t acknowledged_ = 0;  // the numbers after it, up to the last, are in doubt
  uint64_t departures_ = 0;    // known

  // The beat is good from `good_since_` to `good_until_`, and was for `served_` before.
  HomeTime good_since_;
  HomeTime good_until_;
  HomeTime::duration served_{0};
};

}  // namespace tenure
