// The seats of one session: by number, by election, and in the sets that are won together. For
// the owner of the session, and as pure as its seats.
//
// Most sets are of one seat. The seats of a larger one are first held, and lead together when a
// renewal has confirmed that all are held. When one of them ceases to lead, the others stand down.
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
    uint64_t term_asked = 0;  // that was held when the stream asked for the list of seats
    uint64_t noticed_on = 0;  // the last stream that reported a grant
    bool in_doubt = false;    // the seat was not listed, and was granted before or after that
    bool called = false;      // a call for it is under way
  };
  struct Set {
    std::vector<SeatNumber> seats;
    bool unsettled = false;     // a campaign may have been heard, and was not answered
    bool tried = false;         // in this session: so the next campaign waits
    uint64_t confirmed_by = 0;  // the renewal that confirms that all are held; 0: they are not
  };

  // With numbers from `first` on.
  void AddSet(SeatNumber first, std::vector<SeatOptions> options);
  // Forgets the sets for which nothing is left to do, and names their seats.
  [[nodiscard]] std::vector<SeatNumber> TakeGone();

  [[nodiscard]] std::map<SeatNumber, Entry>& all() { return seats_; }
  [[nodiscard]] const std::map<SeatNumber, Entry>& all() const { return seats_; }
  // Null if it is gone.
  [[nodiscard]] Entry* Find(SeatNumber number);
  // The one that acts in this election: others begin when it is gone.
  [[nodiscard]] Entry* Find(const std::string& election);
  // REQUIRES: an entry of this book.
  [[nodiscard]] Set& SetOf(const Entry& entry) { return sets_.at(entry.set); }
  // All of the set to which this seat belongs; none if it is gone.
  [[nodiscard]] std::vector<Entry*> Together(SeatNumber number);

  // Until when all of its set may act as leaders; Time{} if they do not lead.
  [[nodiscard]] Time BelievedUntil(SeatNumber number, const Lease& lease) const;
  // When its next call is due, which for a campaign is the whole set's; never, while it has none.
  [[nodiscard]] Time CallAt(SeatNumber number, const Entry& entry) const;

  // The session is over: nothing that was heard in it counts any more.
  void Forget();
  // Terms begin again. REQUIRES: no session is open.
  void OnServiceReplaced();
  // The stream asks for the list of the seats that are held.
  void ListAsked();
  // It is this list, on this stream; each seat in it has been notified.
  void Listed(const google::protobuf::RepeatedPtrField<v1::Leadership>& list, uint64_t stream,
              Time now);
  // Whether to ask again which seats are held.
  [[nodiscard]] bool AnyInDoubt() const;

  // Begins the terms of the sets that are held and confirmed, and ends those of the others.
  // Renewals are numbered: those up to `sent` were sent, and the last that was answered is
  // `answered`.
  void Settle(Time now, const Lease& lease, uint64_t sent, uint64_t answered);
  // A set is held, and the renewal that confirms it is to be sent yet.
  [[nodiscard]] bool AnyUnconfirmed(uint64_t sent) const;

 private:
  void Settle(Set& set, Time now, const Lease& lease, uint64_t sent, uint64_t answered);
  [[nodiscard]] bool Acts(SeatNumber number, const Entry& entry) const;

  std::map<SeatNumber, Entry> seats_;
  std::map<SeatNumber, Set> sets_;                             // by the first of their seats
  std::map<std::string, std::deque<SeatNumber>> by_election_;  // the first one acts
  ClosedTerms closed_terms_;  // of seats that are gone, in this session
};

}  // namespace tenure
