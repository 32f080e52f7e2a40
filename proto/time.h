// Converts between protobuf's well-known time types and core's. Pure.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>

#include "core/types.h"

namespace tenure {

[[nodiscard]] google::protobuf::Duration ToProto(Duration duration);
[[nodiscard]] google::protobuf::Timestamp ToProto(DbTime time);

// Nothing if the message is not a valid duration. Drops fractions of a microsecond; caps at 100
// years.
[[nodiscard]] std::optional<Duration> FromProto(const google::protobuf::Duration& duration);
// Drops fractions of a microsecond.
[[nodiscard]] DbTime FromProto(const google::protobuf::Timestamp& time);

}  // namespace tenure
