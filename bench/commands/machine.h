// The machine that the figures were made on.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace tenure::bench {

// Processors, kernel, load, and how long a durable write takes on the disk under `folder`. Throws
// as MedianSyncMicroseconds does.
[[nodiscard]] nlohmann::ordered_json DescribeMachine(const std::filesystem::path& folder);

// How long a durable write takes on the disk under `folder`. Throws std::runtime_error if that is
// in memory, where durable commits would mean nothing.
[[nodiscard]] double MedianSyncMicroseconds(const std::filesystem::path& folder);

}  // namespace tenure::bench
