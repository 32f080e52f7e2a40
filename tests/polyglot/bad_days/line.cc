#include "tests/polyglot/bad_days/line.h"

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tenure::testing {
namespace {

const std::map<std::string, Line::Event> kEvents = {
    {"working", Line::Event::kWorking}, {"belief", Line::Event::kBelief},
    {"leading", Line::Event::kLeading}, {"stop", Line::Event::kStop},
    {"stopped", Line::Event::kStopped}, {"over", Line::Event::kOver},
    {"refused", Line::Event::kRefused},
};

Moment MomentOf(const nlohmann::json& json) {
  return Moment(std::chrono::nanoseconds(json.get<int64_t>()));
}

}  // namespace

Line ParseLine(std::string_view text) try {
  const auto json = nlohmann::json::parse(text);
  Line line{.event = kEvents.at(json.at("event")), .at = MomentOf(json.at("at_ns"))};
  if (line.event != Line::Event::kRefused) line.term = json.at("term");
  if (line.event == Line::Event::kOver) line.cause = json.at("cause");
  if (line.event != Line::Event::kBelief) return line;
  line.first = MomentOf(json.at("first_ns"));
  line.last = MomentOf(json.at("last_ns"));
  if (json.contains("deadline_ns")) line.deadline = MomentOf(json.at("deadline_ns"));
  return line;
} catch (const std::exception& error) {
  throw std::invalid_argument("\"" + std::string(text) + "\": " + error.what());
}

}  // namespace tenure::testing
