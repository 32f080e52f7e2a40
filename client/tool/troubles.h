// What the library says of the endpoints, for the commands that go on until it is over.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "client/tool/output.h"
#include "tenure/log.h"

namespace tenure {

// Thread-safe.
class Troubles {
 public:
  // Shown: one line on standard error for each. If not, they are only kept, for a command that ends
  // soon by itself.
  Troubles(bool shown, std::function<void()> on_change)
      : shown_(shown), on_change_(std::move(on_change)) {}

  void Hear(const LogEntry& entry) {
    if (entry.endpoint.empty()) return;  // the command says it in its own words
    {
      const std::lock_guard lock(mutex_);
      causes_.erase(entry.endpoint);
      if (entry.event == LogEvent::kTrouble) causes_[entry.endpoint] = entry.cause;
    }
    if (shown_) Output::Complain(entry.message);
    on_change_();
  }

  [[nodiscard]] bool any() const {
    const std::lock_guard lock(mutex_);
    return !causes_.empty();
  }

  // "cannot use a:7070: connection refused; b:7070: no such host": what is wrong now.
  [[nodiscard]] std::string Text() const {
    const std::lock_guard lock(mutex_);
    return TextOf(causes_);
  }

  [[nodiscard]] static std::string TextOf(const std::map<std::string, std::string>& causes) {
    std::string text;
    for (const auto& [endpoint, cause] : causes) {
      text += (text.empty() ? "cannot use " : "; ") + endpoint + ": " + cause;
    }
    return text.empty() ? "no replica answered in time" : text;
  }

 private:
  const bool shown_;
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> causes_;  // guarded by mutex_; by endpoint
};

}  // namespace tenure
