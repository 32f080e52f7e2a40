#include "server/access/trace.h"

#include <algorithm>

namespace tenure::access {
namespace {

// version "-" trace-id "-" parent-id "-" flags, all in lower-case hexadecimal.
constexpr size_t kVersionSize = 2;
constexpr size_t kTraceIdSize = 32;
constexpr size_t kTraceparentSizeMin = 55;

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

std::string TraceIdOf(std::string_view traceparent) {
  if (traceparent.size() < kTraceparentSizeMin) return "";
  const std::string_view id = traceparent.substr(kVersionSize + 1, kTraceIdSize);
  const bool separated =
      traceparent[kVersionSize] == '-' && traceparent[kVersionSize + 1 + kTraceIdSize] == '-';
  const bool zero = std::ranges::all_of(id, [](char c) { return c == '0'; });
  return separated && !zero && std::ranges::all_of(id, IsLowerHex) ? std::string(id) : "";
}

std::string TraceIdOf(const grpc::ServerContextBase& context) {
  const auto entry = context.client_metadata().find("traceparent");
  if (entry == context.client_metadata().end()) return "";
  return TraceIdOf(std::string_view(entry->second.data(), entry->second.size()));
}

}  // namespace tenure::access
