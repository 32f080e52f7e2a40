// What the figures were made on.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace tenure::bench {

// Processors, kernel, load, and how long the disk under `folder` takes to make a write durable.
// Throws if that is no disk: durable commits in memory would mean nothing.
[[nodiscard]] nlohmann::ordered_json DescribeMachine(const std::filesystem::path& folder);

}  // namespace tenure::bench
