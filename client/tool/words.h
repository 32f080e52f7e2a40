// The contract's enum values as people and programs know them: "EXPIRED" for CAUSE_EXPIRED. A value
// that this client does not know is shown as its number. Pure.
#pragma once

#include <string>

#include "tenure/v1/admin.pb.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

[[nodiscard]] std::string Word(v1::Cause cause);
[[nodiscard]] std::string Word(v1::Event::Type type);
[[nodiscard]] std::string Word(v1::Change::Action action);
[[nodiscard]] std::string Word(v1::AppointResponse::Outcome outcome);

}  // namespace tenure
