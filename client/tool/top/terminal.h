// The terminal, while a program draws the whole screen.
#pragma once

#include <termios.h>

#include <atomic>
#include <functional>
#include <thread>

#include "client/tool/top/keys.h"
#include "client/tool/top/screen.h"

namespace tenure::top {

// Whether standard input and output are a terminal that can be drawn on.
[[nodiscard]] bool HasTerminal();

// While it exists, the terminal shows its own screen, and keys arrive at once and are not echoed;
// Ctrl-C is a key, not a signal. The destructor restores everything. Only one at a time.
//
// Uses plain control sequences that every terminal supports, so nothing needs to be installed.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] Size size() const;
  // Writes only what has changed since the last screen of the same size.
  void Show(const Screen& screen, Size size);
  // False once the terminal is gone.
  [[nodiscard]] bool alive() const { return alive_; }

 private:
  void Write(const std::string& bytes);

  termios before_{};
  bool alive_ = true;
  Screen shown_;
  Size shown_size_{0, 0};
};

// Reads keys on its own thread, which the destructor ends.
class Keyboard {
 public:
  // `on_end` is called when the terminal is gone, so that no more keys come.
  Keyboard(std::function<void(Key)> on_key, std::function<void()> on_end);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

 private:
  void Run() const;

  const std::function<void(Key)> on_key_;
  const std::function<void()> on_end_;
  const int stop_;  // an event descriptor: readable when the thread must end
  std::thread thread_;
};

}  // namespace tenure::top
