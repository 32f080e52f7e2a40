// What the command line tool prints: lines for people, or one JSON object per line for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include <grpcpp/support/status.h>

namespace tenure {

using Json = nlohmann::ordered_json;

class Output {
 public:
  explicit Output(bool json) : json_(json) {}

  // One line on standard output, at once.
  void Line(const Json& object, const std::string& text) const;
  // One line on standard error.
  static void Complain(const std::string& what);
  static void Complain(const grpc::Status& status);

 private:
  const bool json_;
};

}  // namespace tenure
