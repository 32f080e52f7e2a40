// What the figures were made on.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace tenure::bench {

// Processors, kernel, load, and how long the disk under `folder` takes to make a write durable.
// Throws as MedianSyncMicroseconds does.
[[nodiscard]] nlohmann::ordered_json DescribeMachine(const std::filesystem::path& folder);

// How long the disk under `folder` takes to make a write durable. Throws std::runtime_error if that
// is no disk: durable commits in memory would mean nothing.
[[nodiscard]] double MedianSyncMicroseconds(const std::filesystem::path& folder);

}  // namespace tenure::bench
