// Runs tasks one after another, on its own thread.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "client/cpp/io/mailbox.h"

namespace tenure {

// Thread-safe. The destructor runs all remaining tasks first.
class SerialExecutor {
 public:
  SerialExecutor() : thread_([this] { Run(); }) {}
  ~SerialExecutor() {
    tasks_.Put(nullptr);
    thread_.join();
  }
  SerialExecutor(const SerialExecutor&) = delete;
  SerialExecutor& operator=(const SerialExecutor&) = delete;

  // REQUIRES: a task that is not empty.
  void Run(std::function<void()> task) { tasks_.Put(std::move(task)); }
  [[nodiscard]] std::thread::id thread() const { return thread_.get_id(); }

 private:
  void Run() {
    while (auto task = tasks_.Take(std::chrono::steady_clock::time_point::max())) {
      if (*task == nullptr) return;
      (*task)();
    }
  }

  Mailbox<std::function<void()>> tasks_;
  std::thread thread_;
};

}  // namespace tenure
