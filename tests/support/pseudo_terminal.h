// A program at a terminal of its own, and what that terminal shows.
#pragma once

#include <gtest/gtest.h>
#include <termios.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

// What a terminal makes of the bytes that are written to it: as much of a VT100 as full-screen
// programs need. Each character is taken for one column wide.
class TerminalScreen {
 public:
  TerminalScreen(size_t columns, size_t rows);

  void Take(const std::string& bytes);
  void Resize(size_t columns, size_t rows);
  // Row by row, without blanks at the ends of lines.
  [[nodiscard]] std::vector<std::string> Rows() const;
  // Whether the program has the screen to itself, and the shell's is kept.
  [[nodiscard]] bool alternate() const { return alternate_; }
  [[nodiscard]] bool cursor_visible() const { return cursor_visible_; }
  // Sequences that were not understood, for the test to complain about.
  [[nodiscard]] const std::string& unknown() const { return unknown_; }

 private:
  using Cells = std::vector<std::vector<std::string>>;

  [[nodiscard]] Cells Blank() const;
  void Put(const std::string& character);
  void Control(const std::string& sequence);
  void SetMode(const std::string& mode, bool on);

  size_t columns_;
  size_t rows_;
  Cells cells_;
  struct {
    Cells cells;
    size_t row = 0;
    size_t column = 0;
  } kept_;  // the shell's, while the program has the screen to itself
  size_t row_ = 0;
  size_t column_ = 0;
  bool alternate_ = false;
  bool cursor_visible_ = true;
  std::string pending_;  // the beginning of a sequence or character
  std::string unknown_;
};

class PseudoTerminal {
 public:
  PseudoTerminal(std::vector<std::string> command, std::map<std::string, std::string> environment,
                 size_t columns = 80, size_t rows = 24);
  ~PseudoTerminal();

  void Type(const std::string& keys) const;
  void Resize(size_t columns, size_t rows);
  [[nodiscard]] TerminalScreen Screen();
  // Waits until a row of the screen holds a text, or none does; false if that does not happen.
  [[nodiscard]] ::testing::AssertionResult Shows(const std::string& text);
  [[nodiscard]] bool Hides(const std::string& text);
  // How the terminal treats what is typed.
  [[nodiscard]] termios Modes() const;
  [[nodiscard]] Process& process() { return *process_; }

 private:
  [[nodiscard]] bool ShowsNow(const std::string& text);

  int ours_ = -1;
  int theirs_ = -1;  // kept open: the terminal outlives the program
  std::mutex mutex_;
  TerminalScreen screen_;  // guarded by mutex_
  std::unique_ptr<Process> process_;
  std::thread reader_;
};

}  // namespace tenure::testing
