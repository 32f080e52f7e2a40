#include "client/tool/output.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "client/connection.h"
#include "client/tool/exit_code.h"
#include "command_line/text.h"

namespace tenure {
namespace {

// Values are bytes: what is not UTF-8 is shown as U+FFFD.
std::string Dump(const Json& object) {
  return PrintableJson(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The first error of standard output; 0: none.
constexpr int kUnknown = -1;
std::atomic<int> failure = 0;

void Flush() {
  errno = 0;
  if (std::cout.flush()) return;
  int none = 0;
  failure.compare_exchange_strong(none, errno != 0 ? errno : kUnknown);
}

}  // namespace

void Output::Line(const Json& object, const std::string& text) const {
  std::cout << (json_ ? Dump(object) : Printable(text)) << '\n';
  Flush();
}

void Output::Object(const Json& object) const { std::cout << Dump(object) << '\n'; }

void Output::Text(const std::string& line) const { std::cout << Printable(line) << '\n'; }

void Output::Text(const Table& table) const {
  for (const std::string& line : table.Lines()) Text(line);
}

bool Output::Failed() { return failure != 0; }

int Output::Close(int exit_code) {
  Flush();
  if (failure == 0) return exit_code;
  Complain(failure == kUnknown ? "cannot write the output"
                               : std::string("cannot write the output: ") + std::strerror(failure));
  return kExitError;
}

void Output::Complain(const std::string& what) {
  std::cerr << "tenure: " << Printable(what) << std::endl;
}

int Output::Complain(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  Complain(status.error_message() + (reason.empty() ? "" : " (" + reason + ")"));
  return ExitCodeOf(status);
}

}  // namespace tenure
