#include "client/tool/moments.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <ctime>

#include "proto/time.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using Days = std::chrono::duration<int64_t, std::ratio<86400>>;

// "3h 12m": whole units of `large`, and the rest in `small`.
template <typename Large, typename Small>
std::string Pair(Duration duration, char large, char small) {
  const auto whole = std::chrono::duration_cast<Large>(duration);
  const auto rest = std::chrono::duration_cast<Small>(duration - whole);
  return std::to_string(whole.count()) + large + " " + std::to_string(rest.count()) + small;
}

std::string Format(DbTime time, const char* format) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.since_epoch).count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace

std::string AgeText(Duration age) {
  age = std::max(age, Duration(0));
  if (age >= Days(1)) return Pair<Days, std::chrono::hours>(age, 'd', 'h');
  if (age >= 1h) return Pair<std::chrono::hours, std::chrono::minutes>(age, 'h', 'm');
  if (age >= 1min) return Pair<std::chrono::minutes, std::chrono::seconds>(age, 'm', 's');
  return std::to_string(age / 1s) + "s";
}

std::string LeftText(Duration left) {
  if (left <= Duration(0)) return "over";
  if (left >= 10s) return AgeText(left);
  const int64_t tenths = left / 100ms;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
}

std::string LocalText(DbTime time) { return Format(time, "%Y-%m-%d %H:%M:%S"); }

std::string ClockText(DbTime time) { return Format(time, "%H:%M:%S"); }

std::string UtcText(const google::protobuf::Timestamp& time) {
  return google::protobuf::util::TimeUtil::ToString(time);
}

Duration DurationOf(const google::protobuf::Duration& message) {
  return FromProto(message).value_or(Duration(0));
}

int64_t MillisOf(const google::protobuf::Duration& message) { return DurationOf(message) / 1ms; }

DbTime WallClock() {
  return {
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

}  // namespace tenure
