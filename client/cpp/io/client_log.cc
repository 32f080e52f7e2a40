#include "client/cpp/io/client_log.h"

#include <iostream>
#include <set>
#include <utility>

#include "client/cpp/io/diagnosis.h"
#include "client/cpp/machine/call_error.h"

namespace tenure {
namespace {

// Whether the log reports it as trouble of the endpoint: the error is not about the request, and
// another endpoint, or the same one later, may do better.
bool IsEndpointTrouble(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  static const std::set<std::string> reasons = {"", "STORE_UNAVAILABLE", "DRAINING", "OVERLOADED"};
  return reasons.contains(reason);
}

}  // namespace

void ClientLog::Heard(const std::string& endpoint, const grpc::Status& status, Lease::Time now) {
  if (log_ == nullptr || status.error_code() == grpc::StatusCode::CANCELLED) return;
  if (IsWrongService(status)) return;
  if (status.ok() || !IsEndpointTrouble(status)) {
    const auto failed_for = troubles_.Answered(endpoint, now);
    if (!failed_for) return;
    return Say({.event = LogEvent::kRecovered,
                .message = endpoint + " answers after " + DurationText(*failed_for),
                .endpoint = endpoint});
  }
  Trouble trouble = Explain(status, credentials_ != nullptr);
  if (!troubles_.Failed(endpoint, trouble.kind, now)) return;
  run_([log = log_, credentials = credentials_, endpoint, trouble = std::move(trouble)] {
    const std::string cause = Diagnose(endpoint, credentials, trouble);
    log({.event = LogEvent::kTrouble,
         .message = "cannot use " + endpoint + ": " + cause + "; still trying",
         .endpoint = endpoint,
         .cause = cause});
  });
}

void ClientLog::OtherService(const std::string& endpoint, const std::string& service_id,
                             const std::string& known) {
  const std::string cause = "belongs to service " + service_id + ", not to " + known;
  if (std::exchange(others_[endpoint], cause) == cause) return;
  Say({.event = LogEvent::kOtherService,
       .message =
           endpoint + " " + cause + ": its replica works on another database; it is not used",
       .endpoint = endpoint,
       .cause = "it " + cause});
}

void ClientLog::Heard(const grpc::Status& agreement, Lease::Time now) {
  if (agreement.ok()) {
    if (!troubles_.Answered("", now)) return;
    return Say({.event = LogEvent::kRecovered, .message = "the endpoints agree on the service"});
  }
  if (!troubles_.Failed("", Trouble::Kind::kWrongService, now)) return;
  Say({.event = LogEvent::kTrouble,
       .message = agreement.error_message() + "; still trying",
       .cause = agreement.error_message()});
}

void ClientLog::Say(LogEntry entry) {
  if (log_ == nullptr) return;
  run_([log = log_, entry = std::move(entry)] { log(entry); });
}

void LogToStandardError(const LogEntry& entry) {
  std::cerr << "tenure: " + entry.message + "\n" << std::flush;
}

}  // namespace tenure
