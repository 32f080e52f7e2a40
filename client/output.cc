#include "client/output.h"

#include <iostream>

#include "client/connection.h"

namespace tenure {

void Output::Line(const Json& object, const std::string& text) const {
  // Values are bytes: what is not UTF-8 is shown as U+FFFD.
  const auto replace = Json::error_handler_t::replace;
  std::cout << (json_ ? object.dump(-1, ' ', false, replace) : text) << std::endl;
}

void Output::Complain(const std::string& what) { std::cerr << "tenure: " << what << std::endl; }

void Output::Complain(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  Complain(status.error_message() + (reason.empty() ? "" : " (" + reason + ")"));
}

}  // namespace tenure
