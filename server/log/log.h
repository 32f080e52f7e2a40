// The log: one line for each thing that happened, on standard error, as text or as JSON.
//
//   2026-11-21T10:00:00.000+0000 info leader changed election=orders term=8 from=a to=b
//   cause=EXPIRED
//   {"time":"2026-11-21T10:00:00.000Z","level":"info","message":"leader
//   changed","election":"orders",...}
//
// What is not written fast enough is dropped, oldest first: a log never holds up an election. No
// field is ever a secret: sessions by their handles, callers by their names. Thread-safe.
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

// Once, before the first line.
void StartLog(const LogOptions& options);
// Once, after the last line. Returns false if the log could not be written within a second, as when
// a pipe is full. Its thread is then still running: end the process with std::_Exit.
[[nodiscard]] bool StopLog();

// Texts, whole numbers and seconds. Empty texts are left out.
struct LogField {
  std::string_view name;
  std::variant<std::string, uint64_t, double> value;
};
using LogFields = std::initializer_list<LogField>;

void LogInfo(std::string_view message, LogFields fields = {});
void LogWarning(std::string_view message, LogFields fields = {});
void LogError(std::string_view message, LogFields fields = {});

// A line without its time and level, as text.
[[nodiscard]] std::string TextLine(std::string_view message, LogFields fields);
// A whole line as JSON. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string JsonLine(std::string_view time, std::string_view level,
                                   std::string_view message, LogFields fields);

}  // namespace tenure
