// Between protobuf's well-known types of time and core's. Pure.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>

#include "core/types.h"

namespace tenure {

[[nodiscard]] google::protobuf::Duration ToProto(Duration duration);
[[nodiscard]] google::protobuf::Timestamp ToProto(DbTime time);

// Nothing if the message is not a valid duration. Parts of a microsecond are dropped; more than 100
// years are 100 years.
[[nodiscard]] std::optional<Duration> FromProto(const google::protobuf::Duration& duration);
// Parts of a microsecond are dropped.
[[nodiscard]] DbTime FromProto(const google::protobuf::Timestamp& time);

}  // namespace tenure
