// What a client logs by itself.
//
// Nothing goes wrong silently: the first failed try of an endpoint is logged, with the reason, and
// so is its next answer, and the beginning and the end of each term.
#pragma once

#include <functional>
#include <string>

namespace tenure {

enum class LogEvent {
  kTrouble,       // an endpoint cannot be used: a warning
  kRecovered,     // it answers again
  kOtherService,  // an endpoint belongs to another service: a warning
  kRefused,       // the service refuses what this process asks for: a warning
  kWorkFailed,    // an exception left `lead`: a warning
  kElected,       // a term has begun
  kLost,          // a term has ended
};

struct LogEntry {
  LogEvent event;
  std::string message;  // one line: "cannot use 127.0.0.1:7070: connection refused; still trying"
  // The endpoint that is in trouble, if it is a single one, and the cause.
  std::string endpoint = {};
  std::string cause = {};

  [[nodiscard]] bool IsWarning() const {
    return event == LogEvent::kTrouble || event == LogEvent::kOtherService ||
           event == LogEvent::kRefused || event == LogEvent::kWorkFailed;
  }
};

// Called in order, on a thread of the client that does nothing else. It must not throw. Not called
// any more when the client is gone.
using Log = std::function<void(const LogEntry&)>;

// One line on standard error: "tenure: cannot use ...".
void LogToStandardError(const LogEntry& entry);

}  // namespace tenure
