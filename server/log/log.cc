#include "server/log/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/invisible.h"

namespace tenure {
namespace {

constexpr auto kStopPatience = std::chrono::seconds(1);

std::atomic<LogFormat> format = LogFormat::kText;  // set before other threads start

// Whether a character moves a terminal's cursor, reorders its line or is invisible, among those
// that JSON does not escape.
bool Deceives(char32_t code) { return (code >= 0x7F && code < 0xA0) || IsInvisible(code); }

// As JSON escapes it: a surrogate pair above U+FFFF.
std::string Escaped(char32_t code) {
  if (code < 0x10000) return fmt::format("\\u{:04x}", uint32_t{code});
  const uint32_t rest = code - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

std::string Json(std::string_view text) {
  const std::string json =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string harmless;
  for (size_t i = 0, bytes = 0; i < json.size(); i += bytes) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(json[i + at]); };
    const unsigned char lead = byte(0);
    bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t code = bytes == 1 ? lead : lead & (0xFF >> (bytes + 1));
    for (size_t at = 1; at < bytes; ++at) code = code << 6 | (byte(at) & 0x3F);
    harmless += Deceives(code) ? Escaped(code) : json.substr(i, bytes);
  }
  return harmless;
}

bool Plain(std::string_view text) {
  return text.find_first_of(" =") == std::string_view::npos &&
         Json(text) == '"' + std::string(text) + '"';
}

std::string Seconds(double seconds) { return fmt::format("{:.3f}", seconds); }

bool Missing(const LogField& field) {
  const auto* text = std::get_if<std::string>(&field.value);
  return text != nullptr && text->empty();
}

std::string ValueOf(const LogField& field, bool json) {
  struct Writer {
    bool json;
    std::string operator()(const std::string& text) const {
      return json || !Plain(text) ? Json(text) : text;
    }
    std::string operator()(uint64_t number) const { return std::to_string(number); }
    std::string operator()(double seconds) const { return Seconds(seconds); }
  };
  return std::visit(Writer{json}, field.value);
}

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(now), ms.count() % 1000);
}

void Write(spdlog::level::level_enum level, std::string_view message, LogFields fields) {
  if (!spdlog::should_log(level)) return;
  const auto name = spdlog::level::to_string_view(level);
  spdlog::log(level, "{}",
              format == LogFormat::kText
                  ? TextLine(message, fields)
                  : JsonLine(Now(), {name.data(), name.size()}, message, fields));
}

}  // namespace

void StartLog(const LogOptions& options) {
  format = options.format;
  spdlog::set_default_logger(
      spdlog::create_async_nb<spdlog::sinks::stderr_color_sink_mt>("tenured"));
  spdlog::set_pattern(options.format == LogFormat::kText ? "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v"
                                                         : "%v");
  spdlog::set_level(options.level);
  spdlog::flush_every(std::chrono::seconds(1));
}

bool StopLog() {
  const auto stopped = std::make_shared<std::promise<void>>();
  std::thread([stopped] {
    spdlog::shutdown();
    stopped->set_value();
  }).detach();
  return stopped->get_future().wait_for(kStopPatience) == std::future_status::ready;
}

void LogInfo(std::string_view message, LogFields fields) {
  Write(spdlog::level::info, message, fields);
}

void LogWarning(std::string_view message, LogFields fields) {
  Write(spdlog::level::warn, message, fields);
}

void LogError(std::string_view message, LogFields fields) {
  Write(spdlog::level::err, message, fields);
}

std::string TextLine(std::string_view message, LogFields fields) {
  std::string line(message);
  for (const LogField& field : fields) {
    if (!Missing(field)) line.append(fmt::format(" {}={}", field.name, ValueOf(field, false)));
  }
  return line;
}

std::string JsonLine(std::string_view time, std::string_view level, std::string_view message,
                     LogFields fields) {
  std::string line =
      fmt::format(R"({{"time":"{}","level":"{}","message":{})", time, level, Json(message));
  for (const LogField& field : fields) {
    if (!Missing(field)) line.append(fmt::format(R"(,"{}":{})", field.name, ValueOf(field, true)));
  }
  return line + "}";
}

}  // namespace tenure
