// Results for programs, with the figures of every round.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/report/results.h"

namespace tenure::bench {

[[nodiscard]] nlohmann::ordered_json ToJson(const Results& results);

}  // namespace tenure::bench
