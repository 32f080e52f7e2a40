// The trace of a call, as W3C Trace Context (https://www.w3.org/TR/trace-context/) carries it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <string_view>

namespace tenure::access {

// The trace-id of a `traceparent`; empty if it is malformed.
[[nodiscard]] std::string TraceIdOf(std::string_view traceparent);

// Of the call's metadata; empty if it has none.
[[nodiscard]] std::string TraceIdOf(const grpc::ServerContextBase& context);

}  // namespace tenure::access
