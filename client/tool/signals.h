// SIGINT, SIGTERM and others as calls, on a thread of its own.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace tenure {

// Make it before any other thread: it blocks the signals in all that are started later. Those that
// this process was started to ignore, as `nohup` and shells' background jobs are, stay ignored.
class Signals {
 public:
  explicit Signals(std::function<void(int)> on_signal, std::initializer_list<int> others = {})
      : on_signal_(std::move(on_signal)) {
    sigemptyset(&set_);
    for (const int number : others) Add(number);
    Add(SIGINT);
    Add(SIGTERM);
    sigaddset(&set_, SIGRTMIN);  // ends the thread
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::thread([this] {
      int number = 0;
      while (sigwait(&set_, &number) == 0 && !stopping_) on_signal_(number);
    });
  }
  ~Signals() {
    stopping_ = true;
    pthread_kill(thread_.native_handle(), SIGRTMIN);
    thread_.join();
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void Add(int number) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set_, number);
  }

  const std::function<void(int)> on_signal_;
  std::atomic<bool> stopping_ = false;
  sigset_t set_;
  std::thread thread_;
};

}  // namespace tenure
