#include "tests/polyglot/stubs/candidate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace tenure::testing {
namespace {

constexpr auto kLeaseSeconds = "2";

// A field may be missing, or null.
template <typename T>
T Field(const nlohmann::json& json, const std::string& name) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? T() : found->get<T>();
}

Line Parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {.event = json.at("event"),
          .term = Field<uint64_t>(json, "term"),
          .time_ms = json.at("time_ms"),
          .left_ms = Field<int64_t>(json, "left_ms"),
          .revision = Field<uint64_t>(json, "revision"),
          .type = Field<std::string>(json, "type"),
          .candidate = Field<std::string>(json, "candidate"),
          .cause = Field<std::string>(json, "cause")};
}

}  // namespace

Candidate::Candidate(std::string name, const std::string& election, const std::string& endpoints)
    : name_(std::move(name)),
      process_({TENURE_STUBS_CANDIDATE, "--endpoints", endpoints, "--ttl", kLeaseSeconds, election,
                name_}) {}

void Candidate::Kill() {
  process_.Signal(SIGKILL);
  process_.Wait();
}

void Candidate::Terminate() {
  process_.Signal(SIGTERM);
  process_.Wait();
}

std::vector<Line> Candidate::Lines() const {
  const std::vector<std::string> texts = process_.Lines();
  std::vector<Line> lines;
  std::ranges::transform(texts, std::back_inserter(lines), Parse);
  return lines;
}

Line Candidate::WaitFor(const std::string& event, uint64_t term, int64_t from_ms) {
  return WaitForLine(event + " in term " + std::to_string(term), [&](const Line& line) {
    return line.event == event && line.term == term && line.time_ms >= from_ms;
  });
}

void Candidate::WaitUntilItObserves() {
  WaitForLine("what it observes", [](const Line& line) { return line.event == "observed"; });
}

std::string Candidate::WaitForVacated(uint64_t term) {
  return WaitForLine("that term " + std::to_string(term) + " has ended",
                     [&](const Line& line) {
                       return line.event == "observed" && line.type == "VACATED" &&
                              line.term == term;
                     })
      .cause;
}

Line Candidate::WaitForLine(const std::string& description, const Condition& condition) {
  Line found;
  const bool said = Eventually([&] {
    const std::vector<Line> lines = Lines();
    const auto line = std::ranges::find_if(lines, condition);
    if (line != lines.end()) found = *line;
    return line != lines.end();
  });
  if (!said) {
    ADD_FAILURE() << name_ << " does not say: " << description << "; it wrote:\n"
                  << process_.Output() << process_.Errors();
  }
  return found;
}

}  // namespace tenure::testing
