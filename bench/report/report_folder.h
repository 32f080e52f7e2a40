// Where the results of a run are left as files.
#pragma once

#include <filesystem>
#include <string>

namespace tenure::bench {

// Writes a file, and the folder that it is in. Throws std::runtime_error if it cannot.
void WriteReport(const std::filesystem::path& path, const std::string& text);

}  // namespace tenure::bench
