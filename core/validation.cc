#include "core/validation.h"

#include <string>

#include "base/duration_text.h"

namespace tenure {
namespace {

bool HasControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xa0;
    if (c1) return true;
  }
  return false;
}

// What is wrong with a name; empty if nothing is.
std::string NameFault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kNameBytesMax) {
    return "is " + std::to_string(name.size()) + " bytes long; the maximum is " +
           std::to_string(kNameBytesMax);
  }
  if (HasControlCharacter(name)) return "contains a control character";
  return "";
}

std::string Milliseconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

Result<ElectionName> ParseElectionName(std::string_view name) {
  if (const auto fault = NameFault(name); !fault.empty()) {
    return Fail(Reason::kInvalidElectionName, "the election's name " + fault);
  }
  return ElectionName{std::string(name)};
}

Result<std::string> ParseCandidate(std::string_view candidate) {
  if (const auto fault = NameFault(candidate); !fault.empty()) {
    return Fail(Reason::kInvalidCandidate, "the candidate's name " + fault);
  }
  return std::string(candidate);
}

Result<std::string> ParseValue(std::string_view value) {
  if (value.size() > kValueBytesMax) {
    return Fail(Reason::kInvalidValue, "the value is " + std::to_string(value.size()) +
                                           " bytes long; the maximum is " +
                                           std::to_string(kValueBytesMax));
  }
  return std::string(value);
}

Result<Duration> ParseLeaseTtl(std::optional<Duration> ttl, const Limits& limits) {
  const Duration chosen = ttl.value_or(limits.lease_ttl_default);
  if (chosen < limits.lease_ttl_min || chosen > limits.lease_ttl_max) {
    const auto min = Milliseconds(limits.lease_ttl_min);
    const auto max = Milliseconds(limits.lease_ttl_max);
    return Fail(Reason::kInvalidLeaseTtl,
                "a lease of " + Milliseconds(chosen) + " ms is not allowed; this server allows " +
                    min + " ms to " + max + " ms",
                {{"min_ms", min}, {"max_ms", max}});
  }
  return chosen;
}

Result<SessionId> ParseSessionId(std::string_view hex) {
  const auto id = SessionId::FromHex(hex);
  if (!id) {
    return Fail(Reason::kInvalidSessionId, "a session_id must be 32 lower-case hexadecimal digits");
  }
  return *id;
}

bool IsServiceId(std::string_view text) { return SessionId::FromHex(text).has_value(); }

Result<std::string> ParseHandle(std::string_view handle) {
  const std::string digits(handle);
  if (!SessionId::FromHex(digits + digits)) {
    return Fail(Reason::kInvalidSessionId,
                "a session's handle must be 16 lower-case hexadecimal digits");
  }
  return digits;
}

Result<std::string> ParseReason(std::string_view reason) {
  const std::string fault = reason.empty() ? "" : NameFault(reason);
  if (!fault.empty()) return Fail(Reason::kInvalidReason, "the reason " + fault);
  return std::string(reason);
}

Result<Duration> ParseSetting(std::string_view field, Duration value, Duration least) {
  if (value >= least && value <= kAdminDurationMax) return value;
  return Fail(Reason::kInvalidSetting,
              std::string(field) + " is " + DurationText(value) + "; it must be between " +
                  DurationText(least) + " and " + DurationText(kAdminDurationMax),
              {{"field", std::string(field)}, {"max", DurationText(kAdminDurationMax)}});
}

Result<Term> ParseTerm(uint64_t term) {
  if (term == 0) return Fail(Reason::kInvalidTerm, "the term is 0; terms start at 1");
  return Term{term};
}

}  // namespace tenure
