// What the command line tool prints: text for people, or one JSON object per line for programs.
// Whatever others chose is made harmless for a terminal.
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

  // One line on standard output, at once: whichever is wanted.
  void Line(const Json& object, const std::string& text) const;
  // REQUIRES: json().
  void Object(const Json& object) const;
  // REQUIRES: not json(). A line of text, or a table.
  void Text(const std::string& line) const;
  void Text(const Table& table) const;

  // Whether something could not be written to standard output, now or earlier. Thread-safe.
  [[nodiscard]] static bool Failed();
  // Writes what is left. Answers with the exit code: `exit_code`, or kExitError with one line on
  // standard error, once, if not everything could be written.
  [[nodiscard]] static int Close(int exit_code);

  // How long a command that was asked to end waits for a reader of its standard output.
  static constexpr std::chrono::seconds kPatience{1};
  // Ends the process: its standard output is a pipe that is full.
  [[noreturn]] static void GiveUp();

  // One line on standard error.
  static void Complain(const std::string& what);
  // The same, of a call that failed. Answers with the exit code that says so.
  static int Complain(const grpc::Status& status);

 private:
  const bool json_;
};

}  // namespace tenure
