#include "bench/report/report_folder.h"

#include <fstream>
#include <stdexcept>

namespace tenure::bench {

void WriteReport(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace tenure::bench
