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
// How long the service wants its caller to wait before the same request comes again; zero if it
// does not say.
[[nodiscard]] std::chrono::milliseconds RetryDelayOf(const grpc::Status& status);
// Whether the same request may go well later or elsewhere. So may one that a replica of another
// service refused.
[[nodiscard]] bool IsTransient(const grpc::Status& status);
// Whether an operator, or other candidates, may change what refuses it. It may be transient, too.
[[nodiscard]] bool IsRefusedForNow(const grpc::Status& status);
// Between two tries of what IsRefusedForNow, with jitter.
inline constexpr std::chrono::milliseconds kRefusedForNowMin{1'000};
inline constexpr std::chrono::milliseconds kRefusedForNowMax{5'000};
// Whether the replica works on another database than the one of the service.
[[nodiscard]] bool IsWrongService(const grpc::Status& status);
// Such an error of a replica that belongs to this service, for a client of another one.
[[nodiscard]] grpc::Status WrongService(const std::string& service_id);
// Whether the session that was used is over or unknown.
[[nodiscard]] bool IsSessionGone(const grpc::Status& status);

}  // namespace tenure
