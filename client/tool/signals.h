// Delivers SIGINT, SIGTERM and others as calls, on its own thread.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace tenure {

// Create it before any other thread: it blocks the signals in all threads started later. Signals
// that this process was started to ignore, as by `nohup` or in a shell's background jobs, stay
// ignored.
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
