#include "bench/commands/machine.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSyncs = 200;
constexpr size_t kSyncedBytes = 4096;

std::string ProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

}  // namespace

double MedianSyncMicroseconds(const std::filesystem::path& folder) {
  struct statfs file_system {};
  statfs(folder.c_str(), &file_system);
  if (file_system.f_type == TMPFS_MAGIC || file_system.f_type == RAMFS_MAGIC) {
    throw std::runtime_error(folder.string() +
                             " is in memory: set TMPDIR, or MYSQL_ROOT, to a folder on a disk");
  }
  std::string name = (folder / "tenure-bench-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) throw std::runtime_error("cannot write to " + folder.string());
  unlink(name.c_str());
  const std::array<char, kSyncedBytes> block{};
  std::vector<double> times;
  for (int i = 0; i < kSyncs; ++i) {
    const auto begun = Clock::now();
    if (write(file, block.data(), block.size()) < 0 || fdatasync(file) != 0) {
      throw std::runtime_error("cannot write to " + folder.string());
    }
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begun).count());
  }
  close(file);
  return Median(times);
}

nlohmann::ordered_json DescribeMachine(const std::filesystem::path& folder) {
  utsname kernel{};
  uname(&kernel);
  std::array<double, 1> load{};
  getloadavg(load.data(), load.size());
  return {{"processors", std::thread::hardware_concurrency()},
          {"processor", ProcessorModel()},
          {"kernel", kernel.release},
          {"load_at_start", load[0]},
          {"sync_us_median", MedianSyncMicroseconds(folder)}};
}

}  // namespace tenure::bench
