#include "client/tool/words.h"

#include <string_view>

namespace tenure {
namespace {

std::string WithoutPrefix(std::string_view prefix, const std::string& name, int number) {
  return name.empty() ? std::to_string(number) : name.substr(prefix.size());
}

}  // namespace

std::string Word(v1::Cause cause) { return WithoutPrefix("CAUSE_", v1::Cause_Name(cause), cause); }

std::string Word(v1::Event::Type type) {
  return WithoutPrefix("TYPE_", v1::Event::Type_Name(type), type);
}

std::string Word(v1::Change::Action action) {
  return WithoutPrefix("ACTION_", v1::Change::Action_Name(action), action);
}

std::string Word(v1::AppointResponse::Outcome outcome) {
  return WithoutPrefix("OUTCOME_", v1::AppointResponse::Outcome_Name(outcome), outcome);
}

}  // namespace tenure
