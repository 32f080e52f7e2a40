// The terminal, lent to a program that draws all of it.
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

// While it lives, the terminal shows a screen of its own, and each key comes at once and is not
// echoed, not even Ctrl-C as a signal. Its end gives everything back as it was. Only one at a time.
//
// Plain control sequences that every terminal of the last decades knows: nothing to install on the
// machine that one logs in to.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] Size size() const;
  // Writes only what has changed since the last screen of this size.
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

// Reads keys on a thread of its own. Its end ends the thread.
class Keyboard {
 public:
  // `on_end` is called if there will be no more keys: the terminal is gone.
  Keyboard(std::function<void(Key)> on_key, std::function<void()> on_end);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

 private:
  void Run() const;

  const std::function<void(Key)> on_key_;
  const std::function<void()> on_end_;
  const int stop_;  // an event descriptor: readable when the thread is to end
  std::thread thread_;
};

}  // namespace tenure::top
