// Validates input. Pure; each comment names the only error that its function returns.
#pragma once

#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/limits.h"
#include "core/types.h"

namespace tenure {

// 1 to 255 bytes without control characters (C0, DEL, and C1 in UTF-8). kInvalidElectionName.
[[nodiscard]] Result<ElectionName> ParseElectionName(std::string_view name);
// The same rule for candidates. kInvalidCandidate.
[[nodiscard]] Result<std::string> ParseCandidate(std::string_view candidate);
// At most 4096 bytes, any. kInvalidValue.
[[nodiscard]] Result<std::string> ParseValue(std::string_view value);
// Within the limits; nothing: the default. kInvalidLeaseTtl.
[[nodiscard]] Result<Duration> ParseLeaseTtl(std::optional<Duration> ttl, const Limits& limits);
// 32 lower-case hexadecimal digits. kInvalidSessionId.
[[nodiscard]] Result<SessionId> ParseSessionId(std::string_view hex);
// 16 lower-case hexadecimal digits. kInvalidSessionId.
[[nodiscard]] Result<std::string> ParseHandle(std::string_view handle);
// 32 lower-case hexadecimal digits: the id of a service.
[[nodiscard]] bool IsServiceId(std::string_view text);
// The reason for an operator's call: at most 255 bytes without control characters; may be empty.
// kInvalidReason.
[[nodiscard]] Result<std::string> ParseReason(std::string_view reason);
// A duration that operators set: from `least` to 24 h. kInvalidSetting.
[[nodiscard]] Result<Duration> ParseSetting(std::string_view field, Duration value, Duration least);
// Not zero. kInvalidTerm.
[[nodiscard]] Result<Term> ParseTerm(uint64_t term);

}  // namespace tenure
