// Where the threads of a client report what happened to the one thread that decides.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace tenure {

// Thread-safe. It has no limit of its own: each sender has at most a few messages under way.
template <typename Message>
class Mailbox {
 public:
  void Put(Message message) {
    {
      const MutexLock lock(mutex_);
      if (closed_) return;
      messages_.push_back(std::move(message));
    }
    arrived_.NotifyOne();
  }

  // Drops all messages, present and future.
  void Close() {
    std::deque<Message> dropped;
    const MutexLock lock(mutex_);
    closed_ = true;
    dropped.swap(messages_);
  }

  // The next message; nothing if none arrives in time.
  std::optional<Message> Take(std::chrono::steady_clock::time_point until) {
    MutexLock lock(mutex_);
    while (messages_.empty() && arrived_.WaitUntil(lock, until)) continue;
    if (messages_.empty()) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  Mutex mutex_;
  ConditionVariable arrived_;
  bool closed_ TENURE_GUARDED_BY(mutex_) = false;
  std::deque<Message> messages_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
