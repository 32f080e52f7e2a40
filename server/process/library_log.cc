#include "server/process/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cctype>
#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "server/log/log.h"

namespace tenure::process {
namespace {

constexpr uint64_t kLinesPerSecond = 10;
constexpr size_t kLineBytesMax = 1'000;
// Lines that differ only in their numbers, such as a port, are logged once a minute.
constexpr auto kRepeatedEvery = std::chrono::minutes(1);
constexpr size_t kRememberedMax = 64;

// Thread-safe.
class LibraryLog {
 public:
  void Write(std::string_view library, std::string_view text) {
    uint64_t unlogged = 0;
    {
      const MutexLock lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      if (WasSaid(text, now)) return;
      if (now - since_ >= std::chrono::seconds(1)) {
        unlogged = lines_ > kLinesPerSecond ? lines_ - kLinesPerSecond : 0;
        since_ = now;
        lines_ = 0;
      }
      if (++lines_ > kLinesPerSecond) return;
    }
    if (unlogged > 0) LogWarning("a library said more than is logged", {{"count", unlogged}});
    LogWarning("a library says", {{"library", std::string(library)},
                                  {"text", std::string(text.substr(0, kLineBytesMax))}});
  }

 private:
  bool WasSaid(std::string_view text, std::chrono::steady_clock::time_point now)
      TENURE_REQUIRES(mutex_) {
    std::string without_numbers(text.substr(0, kLineBytesMax));
    std::erase_if(without_numbers, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (said_.size() >= kRememberedMax && !said_.contains(without_numbers)) said_.clear();
    const auto [said, is_new] = said_.try_emplace(std::move(without_numbers), now);
    if (!is_new && now - said->second < kRepeatedEvery) return true;
    said->second = now;
    return false;
  }

  Mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> said_ TENURE_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point since_ TENURE_GUARDED_BY(mutex_);
  uint64_t lines_ TENURE_GUARDED_BY(mutex_) = 0;  // since then
};

LibraryLog& Log() {
  static LibraryLog log;
  return log;
}

void FromGrpc(gpr_log_func_args* said) { Log().Write("gRPC", said->message); }

void FromProtobuf(google::protobuf::LogLevel /*level*/, const char* /*file*/, int /*line*/,
                  const std::string& text) {
  Log().Write("protobuf", text);
}

}  // namespace

void TakeOverLibraryLogs() {
  gpr_set_log_function(&FromGrpc);
  google::protobuf::SetLogHandler(&FromProtobuf);
}

void GiveBackLibraryLogs() {
  gpr_set_log_function(nullptr);
  google::protobuf::SetLogHandler(nullptr);
}

}  // namespace tenure::process
