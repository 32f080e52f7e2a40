// The log: one line per event, on standard error, as text or as JSON.
//
//   2026-11-21T10:00:00.000+0000 info leader changed election=orders term=8 from=a to=b
//   cause=EXPIRED
//   {"time":"2026-11-21T10:00:00.000Z","level":"info","message":"leader
//   changed","election":"orders",...}
//
// Lines that cannot be written fast enough are dropped, oldest first: logging never holds up an
// election. No field holds a secret: sessions appear by handle, callers by name. Thread-safe.
#pragma once

#include <spdlog/common.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace tenure {

enum class LogFormat { kText, kJson };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  spdlog::level::level_enum level = spdlog::level::info;
};

// Call once, before the first line.
void StartLog(const LogOptions& options);
// Call once, after the last line. Returns false if the log could not be written within a second,
// for example because a pipe is full. Its thread is then still running: end the process with
// std::_Exit.
[[nodiscard]] bool StopLog();

// A text, a whole number or seconds. Empty texts are omitted.
struct LogField {
  std::string_view name;
  std::variant<std::string, uint64_t, double> value;
};
using LogFields = std::initializer_list<LogField>;

void LogInfo(std::string_view message, LogFields fields = {});
void LogWarning(std::string_view message, LogFields fields = {});
void LogError(std::string_view message, LogFields fields = {});

// A line as text, without its time and level.
[[nodiscard]] std::string TextLine(std::string_view message, LogFields fields);
// A whole line as JSON. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string JsonLine(std::string_view time, std::string_view level,
                                   std::string_view message, LogFields fields);

}  // namespace tenure
