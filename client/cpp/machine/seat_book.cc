#include "client/cpp/machine/seat_book.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tenure {

void SeatBook::AddSet(SeatNumber first, std::vector<SeatOptions> options) {
  Set& set = sets_[first];
  for (SeatOptions& one : options) {
    const SeatNumber number = first + set.seats.size();
    set.seats.push_back(number);
    by_election_[one.election].push_back(number);
    const uint64_t closed_term = closed_terms_.Of(one.election);
    seats_.emplace(number, Entry{Seat(std::move(one), closed_term), first});
  }
}

std::vector<SeatBook::SeatNumber> SeatBook::TakeGone() {
  std::vector<SeatNumber> gone;
  std::erase_if(sets_, [&](const auto& set) {
    const std::vector<SeatNumber>& seats = set.second.seats;
    const bool all = std::ranges::all_of(seats, [this](SeatNumber number) {
      const Entry& entry = seats_.at(number);
      return entry.seat.Gone() && !entry.called;
    });
    if (all) gone.insert(gone.end(), seats.begin(), seats.end());
    return all;
  });
  for (const SeatNumber number : gone) {
    const Seat& seat = seats_.at(number).seat;
    if (seat.closed_term() > 0) {
      closed_terms_.Raise(seat.options().election, seat.closed_term());
    }
    const auto election = by_election_.find(seat.options().election);
    std::erase(election->second, number);
    if (election->second.empty()) {
      by_election_.erase(election);
    } else {
      seats_.at(election->second.front()).seat.CloseUpTo(seat.closed_term());
    }
    seats_.erase(number);
  }
  return gone;
}

SeatBook::Entry* SeatBook::Find(SeatNumber number) {
  const auto entry = seats_.find(number);
  return entry == seats_.end() ? nullptr : &entry->second;
}

SeatBook::Entry* SeatBook::Find(const std::string& election) {
  const auto numbers = by_election_.find(election);
  return numbers == by_election_.end() ? nullptr : &seats_.at(numbers->second.front());
}

std::vector<SeatBook::Entry*> SeatBook::Together(SeatNumber number) {
  std::vector<Entry*> entries;
  const auto entry = seats_.find(number);
  if (entry == seats_.end()) return entries;
  for (const SeatNumber seat : SetOf(entry->second).seats) entries.push_back(&seats_.at(seat));
  return entries;
}

SeatBook::Time SeatBook::BelievedUntil(SeatNumber number, const Lease& lease) const {
  const auto entry = seats_.find(number);
  if (entry == seats_.end()) return Time{};
  Time until = Time::max();
  for (const SeatNumber seat : sets_.at(entry->second.set).seats) {
    until = std::min(until, seats_.at(seat).seat.BelievedUntil(lease));
  }
  return until;
}

SeatBook::Time SeatBook::CallAt(SeatNumber number, const Entry& entry) const {
  const Seat::Need need = entry.seat.need();
  if (need == Seat::Need::kNothing || !Acts(number, entry)) return Time::max();
  if (need == Seat::Need::kResign) return entry.seat.need_at();
  Time at{};
  for (const SeatNumber other : sets_.at(entry.set).seats) {
    const Entry& its = seats_.at(other);
    const bool campaigns = its.seat.need() == Seat::Need::kCampaign;
    const bool has_it = its.seat.held() || its.seat.leads();
    if (!Acts(other, its) || !(campaigns || has_it)) return Time::max();
    if (campaigns) at = std::max(at, its.seat.need_at());
  }
  return at;
}

bool SeatBook::Acts(SeatNumber number, const Entry& entry) const {
  return !entry.called && by_election_.at(entry.seat.options().election).front() == number;
}

void SeatBook::Forget() {
  closed_terms_.Clear();
  for (auto& [first, set] : sets_) set.unsettled = set.tried = false;
}

void SeatBook::OnServiceReplaced() {
  closed_terms_.Clear();
  for (auto& [number, entry] : seats_) entry.seat.ReopenTerms();
}

void SeatBook::ListAsked() {
  for (auto& [number, entry] : seats_) entry.term_asked = entry.seat.term();
}

// The stream reports all changes from before the list was read. So a seat that is not listed is
// lost, if it was held when the list was requested. A seat granted since then was either granted
// after the list was read, and the stream reports that too, or it was granted and lost before.
void SeatBook::Listed(const google::protobuf::RepeatedPtrField<v1::Leadership>& list,
                      uint64_t stream, Time now) {
  for (auto& [number, entry] : seats_) {
    const uint64_t term = entry.seat.term();
    const std::string& election = entry.seat.options().election;
    const bool listed = std::ranges::any_of(list, [&](const v1::Leadership& seat) {
      return seat.election() == election && seat.term() >= term;
    });
    const bool missing = term != 0 && !listed && entry.noticed_on != stream;
    entry.in_doubt = missing && entry.term_asked != term;
    if (missing && !entry.in_doubt) entry.seat.OnLost(term, v1::CAUSE_UNSPECIFIED, now);
  }
}

bool SeatBook::AnyInDoubt() const {
  return std::ranges::any_of(seats_, [](const auto& seat) {
    return seat.second.in_doubt && seat.second.seat.term() != 0;
  });
}

void SeatBook::Settle(Time now, const Lease& lease, uint64_t sent, uint64_t answered) {
  for (auto& [first, set] : sets_) Settle(set, now, lease, sent, answered);
}

void SeatBook::Settle(Set& set, Time now, const Lease& lease, uint64_t sent, uint64_t answered) {
  const auto all = [&](const auto& are) {
    return std::ranges::all_of(
        set.seats, [&](SeatNumber number) { return std::invoke(are, seats_.at(number)); });
  };
  const auto held = [](const Entry& entry) { return entry.seat.held(); };
  const auto leads = [](const Entry& entry) { return entry.seat.leads(); };
  if (!all(held)) {
    set.confirmed_by = 0;
  } else if (set.confirmed_by == 0) {
    set.confirmed_by = sent + 1;
  } else if (answered >= set.confirmed_by &&
             all([](const Entry& seat) { return !seat.in_doubt; })) {
    for (const SeatNumber number : set.seats) seats_.at(number).seat.Begin(now, lease);
  }
  // The stream reports a set seat by seat, perhaps before the campaign's answer.
  if (all(held) || all(leads)) return;
  for (const SeatNumber number : set.seats) {
    Seat& seat = seats_.at(number).seat;
    if (seat.leads() || !set.unsettled) seat.StandDown(now);
  }
}

bool SeatBook::AnyUnconfirmed(uint64_t sent) const {
  return std::ranges::any_of(sets_,
                             [sent](const auto& set) { return set.second.confirmed_by > sent; });
}

}  // namespace tenure
