#include "client/tool/output.h"

#include <unistd.h>

#include <atomic>
#include <iostream>

#include "base/text.h"
#include "client/cpp/machine/call_error.h"
#include "client/tool/exit_code.h"
#include "command_line/standard_output.h"

namespace tenure {
namespace {

std::atomic<int> writing = 0;  // threads

// Values are bytes: invalid UTF-8 is shown as U+FFFD.
std::string Dump(const Json& object) {
  return PrintableJson(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

void Output::Line(const Json& object, const std::string& text) const {
  ++writing;
  std::cout << (json_ ? Dump(object) : Printable(text)) << '\n';
  FlushOutput();
  --writing;
}

void Output::Object(const Json& object) const { std::cout << Dump(object) << '\n'; }

void Output::Text(const std::string& line) const { std::cout << Printable(line) << '\n'; }

void Output::Text(const Table& table) const {
  for (const std::string& line : table.Lines()) Text(line);
}

bool Output::Failed() { return OutputFailed(); }

int Output::Close(int exit_code) {
  const std::string fault = FaultOfOutput();
  if (fault.empty()) return exit_code;
  Complain(fault);
  return kExitError;
}

bool Output::Writing() { return writing > 0; }

// Another thread holds the stream of standard output.
void Output::GiveUp() {
  WriteErrorAlone("tenure: cannot write the output: nobody reads it");
  _exit(kExitError);
}

void Output::Complain(const std::string& what) { WriteError("tenure: " + Printable(what)); }

int Output::Complain(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  Complain(status.error_message() + (reason.empty() ? "" : " (" + reason + ")"));
  return ExitCodeOf(status);
}

}  // namespace tenure
