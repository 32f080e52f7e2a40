#include "tests/polyglot/bad_days/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tests/support/process.h"

namespace tenure::testing {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
using Event = Line::Event;

// The service grants the next term only when the holder must have stopped. An operator, or a newer
// session of the same candidate, does not wait for that: then only the term protects.
bool WaitsForTheHolder(v1::Cause cause) {
  return cause == v1::CAUSE_EXPIRED || cause == v1::CAUSE_RESIGNED ||
         cause == v1::CAUSE_SESSION_CLOSED;
}

// Older entries have been compared, and nothing more is reported about them.
constexpr uint64_t kTermsKept = 16;
constexpr size_t kDeadlinesKept = 256;

double MillisBetween(Moment from, Moment to) { return Milliseconds(to - from).count(); }

}  // namespace

void Witness::Add(const Candidate& candidate) {
  const std::lock_guard lock(mutex_);
  told_[candidate.process].candidate = candidate;
}

void Witness::Remove(const std::string& process) {
  const std::lock_guard lock(mutex_);
  CompareTerms();
  told_.erase(process);
}

void Witness::Hear(const std::string& process, const Line& line) {
  const std::lock_guard lock(mutex_);
  Told& told = told_.at(process);
  if (line.event == Event::kBelief) {
    HearBelief(told, line);
  } else if (line.event == Event::kRefused) {
    told.refused = true;
    told.reigns[0].said.insert(Event::kRefused);
  } else {
    HearEvent(told, line);
  }
  changed_.notify_all();
}

void Witness::HearBelief(Told& told, const Line& line) {
  const std::string& process = told.candidate.process;
  if (told.believed != 0 && told.believed != line.term) {
    told.reigns[told.believed].disbelieved = true;
  }
  told.believed = line.term;
  if (line.term == 0) return;

  Reign& reign = told.reigns[line.term];
  if (!reign.believed_first) reign.believed_first = line.first;
  reign.believed_last = std::max(reign.believed_last.value_or(line.last), line.last);
  if (reign.disbelieved) {
    Find(fmt::format("{} believes in term {} again", process, line.term));
  }
  if (reign.over_at && line.last > *reign.over_at) {
    Find(fmt::format("{} believes in term {} {:.1f} ms after it reported the end of its term",
                     process, line.term, MillisBetween(*reign.over_at, line.last)));
  }
  if (reign.resigned_at && line.last > *reign.resigned_at) {
    Find(fmt::format("{} believes in term {} {:.1f} ms after its Resign was on its way", process,
                     line.term, MillisBetween(*reign.resigned_at, line.last)));
  }
  const auto deadline = DeadlineAt(told, line.at);
  if (!deadline) {
    Find(fmt::format("{} believes in term {}, and nothing was answered", process, line.term));
  } else if (line.last > *deadline) {
    Find(fmt::format("{} believes in term {} {:.1f} ms after its deadline", process, line.term,
                     MillisBetween(*deadline, line.last)));
  } else if (line.deadline && *line.deadline > *deadline) {
    Find(fmt::format("{} has a deadline in term {} that is {:.1f} ms too late", process, line.term,
                     MillisBetween(*deadline, *line.deadline)));
  }
}

void Witness::HearEvent(Told& told, const Line& line) {
  const std::string& process = told.candidate.process;
  const auto wrong = [&](const std::string& what) {
    Find(fmt::format("{} says of term {} {}", process, line.term, what));
  };
  Reign& reign = told.reigns[line.term];
  const auto said = [&](Event event) { return reign.said.contains(event); };
  if (said(line.event)) wrong("the same twice");
  const bool of_work = line.event == Event::kStop || line.event == Event::kStopped;
  const bool may_follow = said(of_work ? Event::kWorking : Event::kLeading) ||
                          line.event == Event::kLeading || told.candidate.may_be_killed;
  if (!may_follow) wrong("something before it has led in it, or begun to work");
  if (line.event == Event::kLeading) {
    if (told.refused) wrong("that it leads, and the service has refused it for good");
    for (const auto& [term, earlier] : told.reigns) {
      if (term > line.term) wrong("that it leads, after a later term");
      if (term >= line.term || earlier.said.empty() || term == 0) continue;
      if (!earlier.said.contains(Event::kOver)) wrong("that it leads, and an earlier is not over");
      if (Works(earlier)) wrong("that it leads, and earlier work goes on");
    }
  }
  if (line.event == Event::kStop && said(Event::kStopped)) wrong("to stop, after it has stopped");
  if (line.event == Event::kOver) {
    reign.over_at = line.at;
    if (told.candidate.may_be_killed) reign.said.insert(Event::kStopped);
    if (line.cause == "RESIGNED" && Works(reign))
      wrong("that it has resigned, and its work goes on");
  }
  reign.said.insert(line.event);
}

bool Witness::Works(const Reign& reign) {
  return reign.said.contains(Event::kWorking) && !reign.said.contains(Event::kStopped);
}

void Witness::Asked(const std::string& process) {
  const std::lock_guard lock(mutex_);
  ++told_.at(process).requests;
  changed_.notify_all();
}

void Witness::Answered(const std::string& process, Moment asked, std::chrono::nanoseconds lease,
                       Moment now) {
  const std::lock_guard lock(mutex_);
  Told& told = told_.at(process);
  const auto trusted =
      std::chrono::duration_cast<std::chrono::nanoseconds>(lease * told.candidate.believes_for);
  auto& deadlines = told.deadlines;
  const Moment before = deadlines.empty() ? Moment::min() : deadlines.back().second;
  deadlines.emplace_back(now, std::max(before, asked + trusted));
  ++told.answers;
  if (deadlines.size() > 2 * kDeadlinesKept) {
    deadlines.erase(deadlines.begin(), deadlines.end() - kDeadlinesKept);
  }
  changed_.notify_all();
}

void Witness::Resigned(const std::string& process, uint64_t term, Moment now) {
  const std::lock_guard lock(mutex_);
  auto& at = told_.at(process).reigns[term].resigned_at;
  if (!at) at = now;
}

void Witness::Elected(uint64_t term, const std::string& name) {
  const std::lock_guard lock(mutex_);
  terms_[term].name = name;
  changed_.notify_all();
}

void Witness::Vacated(uint64_t term, v1::Cause cause, Moment at) {
  const std::lock_guard lock(mutex_);
  terms_[term].vacated = at;
  terms_[term].cause = cause;
  changed_.notify_all();
}

void Witness::Accuse(const std::string& what) {
  const std::lock_guard lock(mutex_);
  Find(what);
}

bool Witness::WaitForSaid(const std::string& process, Event event, uint64_t term) {
  return Wait([&] { return told_.at(process).reigns[term].said.contains(event); });
}

bool Witness::WaitForTermAfter(uint64_t term) {
  return Wait([&] {
    if (terms_.empty()) return false;
    const auto& [latest, its] = *terms_.rbegin();
    return latest > term && !its.vacated && !LeaderLocked(latest).empty();
  });
}

bool Witness::WaitForEndOf(uint64_t term) {
  return Wait([&] { return terms_.contains(term) && terms_[term].vacated; });
}

bool Witness::WaitForRequests(const std::string& process, size_t count) {
  return Wait([&] { return told_.at(process).requests >= count; });
}

bool Witness::WaitForAnswers(const std::string& process, size_t count) {
  return Wait([&] { return told_.at(process).answers >= count; });
}

size_t Witness::requests(const std::string& process) const {
  const std::lock_guard lock(mutex_);
  return told_.at(process).requests;
}

size_t Witness::answers(const std::string& process) const {
  const std::lock_guard lock(mutex_);
  return told_.at(process).answers;
}

bool Witness::HasSaid(const std::string& process, Event event, uint64_t term) const {
  const std::lock_guard lock(mutex_);
  const auto& reigns = told_.at(process).reigns;
  const auto reign = reigns.find(term);
  return reign != reigns.end() && reign->second.said.contains(event);
}

uint64_t Witness::latest_term() const {
  const std::lock_guard lock(mutex_);
  return terms_.empty() ? 0 : terms_.rbegin()->first;
}

v1::Cause Witness::cause_of(uint64_t term) const {
  const std::lock_guard lock(mutex_);
  const auto its = terms_.find(term);
  return its == terms_.end() ? v1::CAUSE_UNSPECIFIED : its->second.cause;
}

std::string Witness::LeaderIn(uint64_t term) const {
  const std::lock_guard lock(mutex_);
  return LeaderLocked(term);
}

std::string Witness::LeaderLocked(uint64_t term) const {
  for (const auto& [process, told] : told_) {
    const auto reign = told.reigns.find(term);
    if (reign == told.reigns.end() || told.believed != term) continue;
    const auto& said = reign->second.said;
    if (said.contains(Event::kLeading) && !said.contains(Event::kOver)) return process;
  }
  return {};
}

std::vector<std::string> Witness::TakeViolations() {
  const std::lock_guard lock(mutex_);
  CompareTerms();
  ForgetOldTerms();
  return std::exchange(untold_, {});
}

void Witness::CompareTerms() {
  for (auto term = terms_.begin(); term != terms_.end(); ++term) {
    const auto& [number, its] = *term;
    const auto next = std::next(term);
    for (const auto& [process, told] : told_) {
      const auto reign = told.reigns.find(number);
      if (reign == told.reigns.end() || !reign->second.believed_last) continue;
      const Moment last = *reign->second.believed_last;
      if (told.candidate.name != its.name) {
        Find(fmt::format("{} believes in term {}, which is {}'s", process, number, its.name));
      }
      if (!its.vacated || !WaitsForTheHolder(its.cause)) continue;
      if (last > *its.vacated) {
        Find(fmt::format("{} believes in term {} {:.1f} ms after the service has ended it ({})",
                         process, number, MillisBetween(*its.vacated, last),
                         v1::Cause_Name(its.cause)));
      }
      if (next == terms_.end()) continue;
      for (const auto& [other, others] : told_) {
        const auto later = others.reigns.find(next->first);
        if (later == others.reigns.end() || !later->second.believed_first) continue;
        if (last <= *later->second.believed_first) continue;
        Find(fmt::format("{} believes in term {} {:.1f} ms after {} began to in term {}", process,
                         number, MillisBetween(*later->second.believed_first, last), other,
                         next->first));
      }
    }
  }
}

void Witness::ForgetOldTerms() {
  if (terms_.empty() || terms_.rbegin()->first <= kTermsKept) return;
  const uint64_t first = terms_.rbegin()->first - kTermsKept;
  terms_.erase(terms_.begin(), terms_.lower_bound(first));
  for (auto& [process, told] : told_) {
    std::erase_if(told.reigns, [&](const auto& it) { return it.first != 0 && it.first < first; });
  }
}

void Witness::Find(const std::string& violation) {
  if (found_.insert(violation).second) untold_.push_back(violation);
}

std::optional<Moment> Witness::DeadlineAt(const Told& told, Moment moment) {
  const auto after =
      std::ranges::upper_bound(told.deadlines, moment, {}, &std::pair<Moment, Moment>::first);
  if (after == told.deadlines.begin()) return std::nullopt;
  return std::prev(after)->second;
}

bool Witness::Wait(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, condition);
}

}  // namespace tenure::testing
