// The seats of one session: by number, by election, and by the sets that are won together. For the
// owner of the session, and as pure as its seats.
//
// Most sets have one seat. The seats of a larger set are first held, and lead together once a
// renewal has confirmed that all are held. If one stops leading, the others stand down.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/cpp/machine/closed_terms.h"
#include "client/cpp/machine/seat.h"
#include "core/lease.h"

namespace tenure {

class SeatBook {
 public:
  using Time = Lease::Time;
  using SeatNumber = uint64_t;

  struct Entry {
    Seat seat;
    SeatNumber set;           // the first seat of its set
    uint64_t term_asked = 0;  // the term held when the stream requested the list of seats
    uint64_t noticed_on = 0;  // the last stream that reported a grant
    bool in_doubt = false;    // not listed, and granted before or after the list was read
    bool called = false;      // a call for it is under way
  };
  struct Set {
    std::vector<SeatNumber> seats;
    bool unsettled = false;  // an unanswered campaign may have been received
    bool tried = false;      // in this session, so the next campaign waits
    uint64_t confirmed_by =
        0;  // the renewal that will confirm that all are held; 0: not all are held
  };

  // Numbers the seats from `first` on.
  void AddSet(SeatNumber first, std::vector<SeatOptions> options);
  // Removes the sets that have nothing left to do, and returns the numbers of their seats.
  [[nodiscard]] std::vector<SeatNumber> TakeGone();

  [[nodiscard]] std::map<SeatNumber, Entry>& all() { return seats_; }
  [[nodiscard]] const std::map<SeatNumber, Entry>& all() const { return seats_; }
  // Null if it is gone.
  [[nodiscard]] Entry* Find(SeatNumber number);
  // The seat that acts in this election; others start when it is gone.
  [[nodiscard]] Entry* Find(const std::string& election);
  // REQUIRES: an entry of this book.
  [[nodiscard]] Set& SetOf(const Entry& entry) { return sets_.at(entry.set); }
  // All seats of the set that this seat belongs to; none if it is gone.
  [[nodiscard]] std::vector<Entry*> Together(SeatNumber number);

  // The time until which all seats of the set may act as leaders; Time{} if they do not lead.
  [[nodiscard]] Time BelievedUntil(SeatNumber number, const Lease& lease) const;
  // When the seat's next call is due (a campaign: the whole set's); never, if none is.
  [[nodiscard]] Time CallAt(SeatNumber number, const Entry& entry) const;

  // The session has ended: nothing received in it counts any more.
  void Forget();
  // Terms start from the beginning. REQUIRES: no session is open.
  void OnServiceReplaced();
  // The stream requests the list of held seats.
  void ListAsked();
  // The stream has delivered the list, and each seat in it has been notified.
  void Listed(const google::protobuf::RepeatedPtrField<v1::Leadership>& list, uint64_t stream,
              Time now);
  // Whether the list must be requested again.
  [[nodiscard]] bool AnyInDoubt() const;

  // Begins the terms of the sets that are held and confirmed, and ends those of the others. `sent`
  // and `answered` are the numbers of the latest renewal sent and answered.
  void Settle(Time now, const Lease& lease, uint64_t sent, uint64_t answered);
  // Whether a set is held, and the renewal that will confirm it has not been sent.
  [[nodiscard]] bool AnyUnconfirmed(uint64_t sent) const;

 private:
  void Settle(Set& set, Time now, const Lease& lease, uint64_t sent, uint64_t answered);
  [[nodiscard]] bool Acts(SeatNumber number, const Entry& entry) const;

  std::map<SeatNumber, Entry> seats_;
  std::map<SeatNumber, Set> sets_;                             // by the first of their seats
  std::map<std::string, std::deque<SeatNumber>> by_election_;  // the first one acts
  ClosedTerms closed_terms_;  // of seats that are gone, for this session
};

}  // namespace tenure
