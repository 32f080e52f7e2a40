// Real processes for tests: started, watched, signalled and never left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenure::testing {

using namespace std::chrono_literals;

// How long a test waits for something that must happen, before it fails.
inline constexpr auto kPatience = 30s;

// Calls `condition` until it is true; false if that takes longer than `patience`.
[[nodiscard]] bool Eventually(const std::function<bool()>& condition,
                              std::chrono::milliseconds patience = kPatience);

// A folder that is removed with all it holds.
class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Where a program of a test runs.
struct Host {
  std::string address = "127.0.0.1";
  std::vector<std::string> enter = {};  // what its command line begins with

  // The command line that runs a program there.
  [[nodiscard]] std::vector<std::string> CommandLine(std::vector<std::string> command) const;
};

// The beginning of a command line whose program sees this file as /etc/hosts, in a mount namespace.
[[nodiscard]] std::vector<std::string> EnterWithHostsFile(const std::string& path);

// A TCP port of 127.0.0.1 that nobody listens on, and that no other test and no outgoing connection
// gets while this process lives. Thread-safe.
[[nodiscard]] int FreePort();

// Descriptors that a child has in place of files; -1: it has not.
struct Streams {
  int terminal = -1;  // its input and output, and it controls it
  int input = -1;
  int output = -1;
};

// One child process. Its output is kept; it dies with the thread that started it, whatever happens
// to that.
class Process {
 public:
  explicit Process(std::vector<std::string> command,
                   std::map<std::string, std::string> environment = {}, Streams streams = {});
  ~Process();  // SIGKILL, if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int number) const;
  // The exit code, or 128 + the signal. Fails the test if it does not end in time.
  int Wait(std::chrono::milliseconds patience = kPatience);
  [[nodiscard]] bool Running();

  // Everything written so far.
  [[nodiscard]] std::string Output() const;              // standard output
  [[nodiscard]] std::string Errors() const;              // standard error
  [[nodiscard]] std::vector<std::string> Lines() const;  // whole lines of standard output
  // Waits until standard output has this many whole lines, and returns the last of them.
  std::string Line(size_t number);

  [[nodiscard]] pid_t pid() const { return pid_; }
  // What it holds now. Throw std::runtime_error if it is gone.
  [[nodiscard]] double ResidentBytes() const;
  [[nodiscard]] size_t Descriptors() const;

 private:
  TempDir files_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

// Runs a command to its end.
struct Finished {
  int exit_code;
  std::string output;
  std::string errors;
};
Finished RunToEnd(std::vector<std::string> command,
                  std::map<std::string, std::string> environment = {},
                  std::chrono::milliseconds patience = kPatience);

}  // namespace tenure::testing
