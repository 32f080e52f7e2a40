#include "proto/time.h"

#include <algorithm>
#include <cstdlib>

namespace tenure {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kProtoSecondsMax = 315'576'000'000;  // google.protobuf.Duration's own bound
constexpr Duration kDurationMax = std::chrono::hours(100 * 365 * 24);

template <typename Message>
Message SecondsAndNanos(Duration since) {
  Message message;
  message.set_seconds(since.count() / kMicrosPerSecond);
  message.set_nanos(static_cast<int32_t>(since.count() % kMicrosPerSecond * 1000));
  return message;
}

}  // namespace

google::protobuf::Duration ToProto(Duration duration) {
  return SecondsAndNanos<google::protobuf::Duration>(duration);
}

google::protobuf::Timestamp ToProto(DbTime time) {
  return SecondsAndNanos<google::protobuf::Timestamp>(time.since_epoch);
}

std::optional<Duration> FromProto(const google::protobuf::Duration& duration) {
  const int64_t seconds = duration.seconds();
  const int64_t nanos = duration.nanos();
  const bool signs_differ = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
  const bool valid = seconds >= -kProtoSecondsMax && seconds <= kProtoSecondsMax &&
                     std::abs(nanos) < kNanosPerSecond && !signs_differ;
  if (!valid) return std::nullopt;
  return std::clamp(Duration(seconds * kMicrosPerSecond + nanos / 1000), -kDurationMax,
                    kDurationMax);
}

DbTime FromProto(const google::protobuf::Timestamp& time) {
  return {Duration(time.seconds() * kMicrosPerSecond + time.nanos() / 1000)};
}

}  // namespace tenure
