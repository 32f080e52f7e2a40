// Keeps what the library reports about endpoints, for the commands that wait.
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
  // If `shown`, prints one line on standard error for each. Otherwise only keeps them, for a
  // command that ends soon anyway.
  Troubles(bool shown, std::function<void()> on_change)
      : shown_(shown), on_change_(std::move(on_change)) {}

  void Hear(const LogEntry& entry) {
    const bool over = entry.event == LogEvent::kRecovered;
    const bool other = entry.event == LogEvent::kOtherService;
    // The command reports the rest in its own words.
    if (entry.event != LogEvent::kTrouble && !over && !other) return;
    {
      const std::lock_guard lock(mutex_);
      if (!other) causes_.erase(entry.endpoint);
      if (entry.event == LogEvent::kTrouble) causes_[entry.endpoint] = entry.cause;
      if (other && !entry.endpoint.empty()) others_[entry.endpoint] = entry.cause;
    }
    if (shown_ || other) Output::Complain(entry.message);
    on_change_();
  }

  [[nodiscard]] bool any() const {
    const std::lock_guard lock(mutex_);
    return !causes_.empty();
  }

  // The current troubles: "cannot use a:7070: connection refused; b:7070: no such host".
  [[nodiscard]] std::string Text() const {
    const std::lock_guard lock(mutex_);
    auto causes = causes_;
    causes.insert(others_.begin(), others_.end());
    return TextOf(causes);
  }

  [[nodiscard]] static std::string TextOf(const std::map<std::string, std::string>& causes) {
    // A trouble of all endpoints outranks that of one.
    if (const auto all = causes.find(""); all != causes.end()) return all->second;
    std::string text;
    for (const auto& [endpoint, cause] : causes) {
      text += (text.empty() ? "cannot use " : "; ") + endpoint + ": " + cause;
    }
    if (text.empty()) text = "no replica answered in time";
    return text + "; see `tenure status`";
  }

 private:
  const bool shown_;
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> causes_;  // guarded by mutex_; by endpoint, "" for all
  std::map<std::string, std::string> others_;  // guarded by mutex_; endpoints of other services
};

}  // namespace tenure
