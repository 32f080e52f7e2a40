#include "tests/chaos/history.h"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <stdexcept>

namespace tenure::testing {

Nanoseconds NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace line {

std::string Began(const TermKey& term, Nanoseconds by) {
  return fmt::format("began {} {} {}", term.first, term.second, by);
}
std::string Believed(const TermKey& term, Nanoseconds from, Nanoseconds until) {
  return fmt::format("believed {} {} {} {}", term.first, term.second, from, until);
}
std::string Ended(const TermKey& term, Nanoseconds at) {
  return fmt::format("ended {} {} {}", term.first, term.second, at);
}
std::string Writes(const TermKey& term) {
  return fmt::format("writes {} {}", term.first, term.second);
}
std::string Wrote(const TermKey& term) {
  return fmt::format("wrote {} {}", term.first, term.second);
}

}  // namespace line

void History::Add(std::string_view line, const std::string& candidate) {
  std::istringstream words{std::string(line)};
  std::string what;
  TermKey term;
  Nanoseconds at = 0;
  Nanoseconds until = 0;
  if (!(words >> what >> term.first >> term.second)) throw std::invalid_argument(std::string(line));
  if (what == "writes") {
    ++tried_[term.first];
  } else if (what == "wrote") {
    ++acknowledged_[term.first];
  } else if (what == "began" && words >> at) {
    Of(term, candidate).first_by = at;
  } else if (what == "believed" && words >> at >> until) {
    Belief& belief = Of(term, candidate);
    belief.last_from = at;
    belief.until = until;
  } else if (what == "ended" && words >> at) {
    Of(term, candidate).ended = at;
  } else {
    throw std::invalid_argument(std::string(line));
  }
}

uint64_t History::writes_tried(const std::string& election) const {
  const auto found = tried_.find(election);
  return found == tried_.end() ? 0 : found->second;
}

uint64_t History::writes_acknowledged(const std::string& election) const {
  const auto found = acknowledged_.find(election);
  return found == acknowledged_.end() ? 0 : found->second;
}

Belief& History::Of(const TermKey& term, const std::string& candidate) {
  const auto [found, added] = beliefs_.try_emplace(term, Belief{.candidate = candidate});
  Belief& belief = found->second;
  if (belief.candidate != candidate) {
    disputes_.push_back(fmt::format("{} and {} both led {} in term {}", belief.candidate, candidate,
                                    term.first, term.second));
  }
  return belief;
}

}  // namespace tenure::testing
