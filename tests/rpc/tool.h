// The command line tool, run by tests on a server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

inline std::map<std::string, std::string> ToolEnvironment(const Tenured& server) {
  return {{"TENURE_ENDPOINTS", server.endpoint()}, {"TZ", "UTC"}};
}

inline std::vector<std::string> ToolCommand(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("tenure"));
  return arguments;
}

inline Finished RunTool(const Tenured& server, std::vector<std::string> arguments) {
  return RunToEnd(ToolCommand(std::move(arguments)), ToolEnvironment(server));
}

inline std::unique_ptr<Process> StartTool(const Tenured& server,
                                          std::vector<std::string> arguments) {
  return std::make_unique<Process>(ToolCommand(std::move(arguments)), ToolEnvironment(server));
}

}  // namespace tenure::testing
