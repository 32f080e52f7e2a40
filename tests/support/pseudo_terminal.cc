#include "tests/support/pseudo_terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tenure::testing {
namespace {

constexpr char kEscape = '\x1b';

winsize WindowOf(size_t columns, size_t rows) {
  winsize window{};
  window.ws_col = static_cast<unsigned short>(columns);
  window.ws_row = static_cast<unsigned short>(rows);
  return window;
}

// The length of the sequence or character at the beginning; 0 if its end has not come.
size_t UnitLength(const std::string& bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead == kEscape) {
    if (bytes.size() < 2) return 0;
    if (bytes[1] != '[') return 2;
    for (size_t i = 2; i < bytes.size(); ++i) {
      if (bytes[i] >= 0x40 && bytes[i] <= 0x7E) return i + 1;
    }
    return 0;
  }
  const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return bytes.size() < length ? 0 : length;
}

}  // namespace

// --- TerminalScreen ---

TerminalScreen::TerminalScreen(size_t columns, size_t rows)
    : columns_(columns), rows_(rows), cells_(Blank()) {}

TerminalScreen::Cells TerminalScreen::Blank() const {
  return Cells(rows_, std::vector<std::string>(columns_, " "));
}

void TerminalScreen::Take(const std::string& bytes) {
  pending_ += bytes;
  while (!pending_.empty()) {
    const size_t length = UnitLength(pending_);
    if (length == 0) return;
    const std::string unit = pending_.substr(0, length);
    pending_.erase(0, length);
    unit[0] == kEscape ? Control(unit) : Put(unit);
  }
}

void TerminalScreen::Resize(size_t columns, size_t rows) {
  columns_ = columns;
  rows_ = rows;
  cells_ = Blank();
  row_ = column_ = 0;
}

void TerminalScreen::Put(const std::string& character) {
  if (character == "\r") {
    column_ = 0;
  } else if (character == "\n") {
    row_ = std::min(row_ + 1, rows_ - 1);
  } else {
    cells_[row_][column_] = character;
    column_ = std::min(column_ + 1, columns_ - 1);
  }
}

void TerminalScreen::Control(const std::string& sequence) {
  const std::string body = sequence.substr(2, sequence.size() - 3);
  const char command = sequence.back();
  if (command == 'm') return;  // colours
  if (command == 'H') {
    const size_t separator = body.find(';');
    row_ = std::min<size_t>(std::stoul(body), rows_) - 1;
    column_ = std::min<size_t>(std::stoul(body.substr(separator + 1)), columns_) - 1;
  } else if (command == 'J' && body == "2") {
    cells_ = Blank();
  } else if (command == 'K' && body == "2") {
    cells_[row_].assign(columns_, " ");
  } else if (command == 'h' || command == 'l') {
    SetMode(body, command == 'h');
  } else {
    unknown_ += sequence;
  }
}

void TerminalScreen::SetMode(const std::string& mode, bool on) {
  if (mode == "?25") {
    cursor_visible_ = on;
  } else if (mode == "?1049") {
    if (on) {
      kept_ = {std::move(cells_), row_, column_};
      cells_ = Blank();
    } else {
      cells_ = kept_.cells;
      row_ = kept_.row;
      column_ = kept_.column;
    }
    alternate_ = on;
  } else if (mode != "?7") {
    unknown_ += mode;
  }
}

std::vector<std::string> TerminalScreen::Rows() const {
  std::vector<std::string> rows;
  for (const auto& cells : cells_) {
    std::string row;
    for (const std::string& cell : cells) row += cell;
    row.resize(row.find_last_not_of(' ') + 1);
    rows.push_back(row);
  }
  return rows;
}

// --- PseudoTerminal ---

PseudoTerminal::PseudoTerminal(std::vector<std::string> command,
                               std::map<std::string, std::string> environment, size_t columns,
                               size_t rows)
    : screen_(columns, rows) {
  const winsize window = WindowOf(columns, rows);
  if (openpty(&ours_, &theirs_, nullptr, nullptr, &window) != 0) {
    ADD_FAILURE() << "there is no pseudo-terminal";
    return;
  }
  environment.try_emplace("TERM", "xterm");
  for (const int end : {ours_, theirs_}) fcntl(end, F_SETFD, FD_CLOEXEC);
  process_ = std::make_unique<Process>(std::move(command), std::move(environment),
                                       Streams{.terminal = theirs_});
  reader_ = std::thread([this] {
    std::array<char, 4096> bytes{};
    while (true) {
      const ssize_t count = read(ours_, bytes.data(), bytes.size());
      if (count <= 0) return;
      const std::lock_guard lock(mutex_);
      screen_.Take({bytes.data(), static_cast<size_t>(count)});
    }
  });
}

PseudoTerminal::~PseudoTerminal() {
  process_.reset();
  close(theirs_);  // then the reader reads the end
  if (reader_.joinable()) reader_.join();
  close(ours_);
}

void PseudoTerminal::Type(const std::string& keys) const {
  EXPECT_EQ(write(ours_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void PseudoTerminal::Resize(size_t columns, size_t rows) {
  {
    const std::lock_guard lock(mutex_);
    screen_.Resize(columns, rows);
  }
  const winsize window = WindowOf(columns, rows);
  ioctl(ours_, TIOCSWINSZ, &window);
}

TerminalScreen PseudoTerminal::Screen() {
  const std::lock_guard lock(mutex_);
  return screen_;
}

bool PseudoTerminal::ShowsNow(const std::string& text) {
  return std::ranges::any_of(
      Screen().Rows(), [&](const std::string& row) { return row.find(text) != std::string::npos; });
}

::testing::AssertionResult PseudoTerminal::Shows(const std::string& text) {
  if (Eventually([&] { return ShowsNow(text); })) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << "the terminal shows:\n";
  for (const std::string& row : Screen().Rows()) failure << row << "\n";
  return failure;
}

bool PseudoTerminal::Hides(const std::string& text) {
  return Eventually([&] { return !ShowsNow(text); });
}

termios PseudoTerminal::Modes() const {
  termios modes{};
  tcgetattr(theirs_, &modes);
  return modes;
}

}  // namespace tenure::testing
