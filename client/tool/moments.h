// Durations and times as people and programs read them. Pure, except for the time zone.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>

#include "core/types.h"

namespace tenure {

// Roughly how long something has lasted: "0s", "45s", "3m 5s", "3h 12m", "5d 2h".
[[nodiscard]] std::string AgeText(Duration age);
// How long something still lasts, with tenths where they matter: "8.2s", "12s", "2m 5s"; "over" if
// it has ended.
[[nodiscard]] std::string LeftText(Duration left);
// In the time zone of the process: "2026-05-01 14:03:22".
[[nodiscard]] std::string LocalText(DbTime time);
// Only the time of day: "14:03:22".
[[nodiscard]] std::string ClockText(DbTime time);
// For programs: "2026-05-01T12:03:22.123456Z".
[[nodiscard]] std::string UtcText(const google::protobuf::Timestamp& time);

// Zero for an invalid duration, which servers do not send.
[[nodiscard]] Duration DurationOf(const google::protobuf::Duration& message);
[[nodiscard]] int64_t MillisOf(const google::protobuf::Duration& message);
// The time by this machine's clock. Only for display: it may differ from the database's.
[[nodiscard]] DbTime WallClock();

}  // namespace tenure
