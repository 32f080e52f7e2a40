// What a client makes of the error of a call. Pure.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <string>

namespace tenure {

// The ErrorInfo reason of a status; empty if it has none.
[[nodiscard]] std::string ReasonOf(const grpc::Status& status);
// An entry of its metadata; empty if there is none.
[[nodiscard]] std::string MetadataOf(const grpc::Status& status, const std::string& key);
// How long the service asks its caller to wait before repeating the request; zero if it does not
// say.
[[nodiscard]] std::chrono::milliseconds RetryDelayOf(const grpc::Status& status);
// Whether the same request may succeed later or on another replica; also true if a replica of
// another service refused it.
[[nodiscard]] bool IsTransient(const grpc::Status& status);
// Whether an operator, or other candidates, may lift the refusal. The error may be transient, too.
[[nodiscard]] bool IsRefusedForNow(const grpc::Status& status);
// Pause before another attempt after IsRefusedForNow, with jitter.
inline constexpr std::chrono::milliseconds kRefusedForNowMin{1'000};
inline constexpr std::chrono::milliseconds kRefusedForNowMax{5'000};
// Whether the replica works on a database other than the service's.
[[nodiscard]] bool IsWrongService(const grpc::Status& status);
// The error by which a replica of this service refuses a client of another one.
[[nodiscard]] grpc::Status WrongService(const std::string& service_id);
// Whether the session in use has ended or is unknown.
[[nodiscard]] bool IsSessionGone(const grpc::Status& status);

}  // namespace tenure
