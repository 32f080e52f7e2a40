// Output of the command line tool: text for people, or one JSON object per line for programs. Text
// chosen by others is made harmless for a terminal.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line/table.h"

namespace tenure {

using Json = nlohmann::ordered_json;

class Output {
 public:
  explicit Output(bool json) : json_(json) {}

  [[nodiscard]] bool json() const { return json_; }

  // Prints the object or the text as one line on standard output, at once.
  void Line(const Json& object, const std::string& text) const;
  // REQUIRES: json().
  void Object(const Json& object) const;
  // REQUIRES: not json(). Prints a line of text, or a table.
  void Text(const std::string& line) const;
  void Text(const Table& table) const;

  // Whether a write to standard output has ever failed. Thread-safe.
  [[nodiscard]] static bool Failed();
  // Flushes standard output. Returns `exit_code`, or kExitError, with one line on standard error
  // the first time, if not everything could be written.
  [[nodiscard]] static int Close(int exit_code);

  // How long a command that was asked to end waits for a reader of its standard output.
  static constexpr std::chrono::seconds kPatience{1};
  // Whether a thread is writing a line. Thread-safe.
  [[nodiscard]] static bool Writing();
  // Ends the process: its standard output is a pipe that is full.
  [[noreturn]] static void GiveUp();

  // Prints one line on standard error.
  static void Complain(const std::string& what);
  // The same for a failed call; returns its exit code.
  static int Complain(const grpc::Status& status);

 private:
  const bool json_;
};

}  // namespace tenure
