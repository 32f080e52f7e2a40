// Writes the results of a run to files.
#pragma once

#include <filesystem>
#include <string>

namespace tenure::bench {

// Writes a file, and creates its folder. Throws std::runtime_error if it cannot.
void WriteReport(const std::filesystem::path& path, const std::string& text);

}  // namespace tenure::bench
