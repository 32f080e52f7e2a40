// Where the threads of a client leave what happened, for the one thread that decides.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace tenure {

// Thread-safe. Unbounded by itself: each sender has at most a few messages under way.
template <typename Message>
class Mailbox {
 public:
  void Put(Message message) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      messages_.push_back(std::move(message));
    }
    arrived_.notify_one();
  }

  // Drops what is there, and whatever comes later.
  void Close() {
    std::deque<Message> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(messages_);
  }

  // The next message; nothing if none comes until then.
  std::optional<Message> Take(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_until(lock, until, [&] { return !messages_.empty(); })) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  bool closed_ = false;           // guarded by mutex_
  std::deque<Message> messages_;  // guarded by mutex_
};

}  // namespace tenure
