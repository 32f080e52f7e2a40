#include "client/tool/top/terminal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace tenure::top {
namespace {

// Uses the alternate screen, hides the cursor, and does not wrap long lines.
constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr char kLeave[] = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr char kClear[] = "\x1b[2J";
constexpr char kClearLine[] = "\x1b[2K";
constexpr char kPlain[] = "\x1b[0m";
constexpr int kEscapePatienceMs = 50;  // for the rest of a sequence that begins with Escape

std::string_view StyleOf(Tone tone) {
  const bool colours = std::getenv("NO_COLOR") == nullptr;
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kTitle: return "\x1b[1;7m";
    case Tone::kHeader: return "\x1b[7m";
    case Tone::kQuiet: return "\x1b[2m";
    case Tone::kNotice: return colours ? "\x1b[33m" : "";
    case Tone::kAlarm: return colours ? "\x1b[31m" : "\x1b[1m";
  }
  return "";
}

}  // namespace

bool HasTerminal() {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::string_view(kind) == "dumb";
  return !dumb && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  Write(kEnter);
}

Terminal::~Terminal() {
  Write(kLeave);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

Size Terminal::size() const {
  winsize window{};
  const bool known =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0;
  return known ? Size{window.ws_col, window.ws_row} : Size{};
}

void Terminal::Show(const Screen& screen, Size size) {
  std::string bytes;
  if (size.width != shown_size_.width || size.height != shown_size_.height) {
    bytes += kClear;
    shown_.clear();
  }
  for (size_t i = 0; i < screen.size(); ++i) {
    if (i < shown_.size() && shown_[i] == screen[i]) continue;
    bytes += "\x1b[" + std::to_string(i + 1) + ";1H";
    bytes += kClearLine;
    bytes += StyleOf(screen[i].tone);
    bytes += screen[i].text;
    bytes += kPlain;
  }
  Write(bytes);
  shown_ = screen;
  shown_size_ = size;
}

void Terminal::Write(const std::string& bytes) {
  size_t written = 0;
  while (alive_ && written < bytes.size()) {
    const ssize_t now = write(STDOUT_FILENO, bytes.data() + written, bytes.size() - written);
    if (now >= 0) {
      written += static_cast<size_t>(now);
    } else if (errno != EINTR) {
      alive_ = false;
    }
  }
}

Keyboard::Keyboard(std::function<void(Key)> on_key, std::function<void()> on_end)
    : on_key_(std::move(on_key)),
      on_end_(std::move(on_end)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

Keyboard::~Keyboard() {
  eventfd_write(stop_, 1);
  thread_.join();
  close(stop_);
}

void Keyboard::Run() const {
  KeyDecoder decoder;
  while (true) {
    std::array<pollfd, 2> sources = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    const int ready =
        poll(sources.data(), sources.size(), decoder.pending() ? kEscapePatienceMs : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (sources[1].revents != 0) return;
    if (ready == 0) {
      for (Key& key : decoder.Flush()) on_key_(std::move(key));
      continue;
    }
    std::array<char, 256> bytes{};
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) return on_end_();
    for (Key& key : decoder.Take({bytes.data(), static_cast<size_t>(count)})) {
      on_key_(std::move(key));
    }
  }
}

}  // namespace tenure::top
