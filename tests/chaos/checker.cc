#include "tests/chaos/checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenure::testing {
namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;

double Milliseconds(Nanoseconds span) {
  return static_cast<double>(span) / kNanosecondsPerMillisecond;
}

// When the leader of this term stopped acting, by its own account: it resigned, or its deadline
// passed.
Nanoseconds ReleasedAt(const Belief& belief) {
  return std::min(belief.ended.value_or(belief.until), belief.until);
}

void CheckBelievers(const History& history, std::vector<std::string>& violations) {
  using Entry = std::map<TermKey, Belief>::value_type;
  const Entry* acted_last = nullptr;  // in an earlier term of this election
  const Entry* released_last = nullptr;
  for (const Entry& entry : history.beliefs()) {
    const auto& [key, belief] = entry;
    if (acted_last != nullptr && acted_last->first.first != key.first) {
      acted_last = released_last = nullptr;
    }
    const auto complain = [&](const Entry& before, const char* how, Nanoseconds late) {
      violations.push_back(
          fmt::format("{}: {} led in term {}, and {} in term {} {} {:.1f} ms later", key.first,
                      belief.candidate, key.second, before.second.candidate, before.first.second,
                      how, Milliseconds(late)));
    };
    if (acted_last != nullptr && acted_last->second.last_from > belief.first_by) {
      complain(*acted_last, "acted", acted_last->second.last_from - belief.first_by);
    } else if (released_last != nullptr && ReleasedAt(released_last->second) > belief.first_by) {
      complain(*released_last, "could have acted up to",
               ReleasedAt(released_last->second) - belief.first_by);
    }
    if (acted_last == nullptr || belief.last_from > acted_last->second.last_from) {
      acted_last = &entry;
    }
    if (released_last == nullptr || ReleasedAt(belief) > ReleasedAt(released_last->second)) {
      released_last = &entry;
    }
  }
}

// A value that is known since `at`.
struct Known {
  Nanoseconds at;
  uint64_t value;
};

// Each reading must show at least the highest value that was known when it was requested.
template <typename ValueOf>
void CheckReadings(const std::vector<const Reading*>& readings, std::vector<Known> known,
                   const char* what, ValueOf value_of, std::vector<std::string>& violations) {
  for (const Reading* reading : readings) known.push_back({reading->answered, value_of(*reading)});
  std::ranges::sort(known, {}, &Known::at);
  size_t next = 0;
  uint64_t highest = 0;
  for (const Reading* reading : readings) {  // in the order in which they were asked
    for (; next < known.size() && known[next].at < reading->asked; ++next) {
      highest = std::max(highest, known[next].value);
    }
    if (value_of(*reading) < highest) {
      violations.push_back(fmt::format("{}: a reader got {} {} after {} was known",
                                       reading->election, what, value_of(*reading), highest));
    }
  }
}

}  // namespace

std::vector<std::string> Violations(const History& history) {
  std::vector<std::string> violations = history.disputes();
  CheckBelievers(history, violations);

  std::map<std::string, std::vector<const Reading*>> readings;
  for (const Reading& reading : history.readings()) readings[reading.election].push_back(&reading);
  std::map<std::string, std::vector<Known>> terms;
  for (const auto& [key, belief] : history.beliefs()) {
    if (belief.first_by > 0) terms[key.first].push_back({belief.first_by, key.second});
  }
  for (auto& [election, of_one] : readings) {
    std::ranges::sort(of_one, {}, &Reading::asked);
    CheckReadings(
        of_one, terms[election], "term", [](const Reading& it) { return it.term; }, violations);
    CheckReadings(
        of_one, {}, "revision", [](const Reading& it) { return it.revision; }, violations);
  }
  return violations;
}

std::vector<Vacancy> Vacancies(const History& history) {
  std::vector<Vacancy> vacancies;
  const TermKey* key_before = nullptr;
  const Belief* before = nullptr;
  for (const auto& [key, belief] : history.beliefs()) {
    if (before != nullptr && key_before->first == key.first &&
        before->last_from < belief.first_by) {
      vacancies.push_back({key.first, before->last_from, belief.first_by});
    }
    key_before = &key;
    before = &belief;
  }
  return vacancies;
}

}  // namespace tenure::testing
