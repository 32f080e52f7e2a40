#include "client/tool/call.h"

#include <chrono>
#include <map>
#include <thread>

#include "client/cpp/io/diagnosis.h"
#include "client/cpp/machine/call_error.h"
#include "client/tool/troubles.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
constexpr auto kAttemptPatience = 2s;  // then the next replica is asked
// Without a connection, an attempt can only find out why there is none.
constexpr auto kCausePatience = 300ms;

// Whether the endpoint may be the cause, and not the request: another endpoint may do better.
bool MayBeTheEndpoint(const grpc::Status& status) {
  return IsTransient(status) || ReasonOf(status).empty();
}

}  // namespace

grpc::Status Persist(Connection& connection,
                     const std::function<grpc::Status(grpc::ClientContext*)>& attempt) {
  const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
  std::map<std::string, Trouble> troubles;  // the latest of each endpoint
  while (true) {
    grpc::ClientContext context;
    const auto patience = connection.Connect()
                              ? std::min<std::chrono::steady_clock::duration>(
                                    give_up_at - std::chrono::steady_clock::now(), kAttemptPatience)
                              : kCausePatience;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    connection.NameService(context);
    const grpc::Status status = attempt(&context);
    if (status.ok()) {
      connection.Succeeded();
      return status;
    }
    if (!MayBeTheEndpoint(status)) return status;
    const Trouble trouble = Explain(status, connection.credentials() != nullptr);
    // An attempt that was too short does not hide the cause that an earlier one found.
    const auto [known, is_new] = troubles.try_emplace(connection.endpoint(), trouble);
    if (trouble.kind != Trouble::Kind::kNoAnswer) known->second = trouble;
    const auto pause = connection.Backoff();
    if (!IsTransient(status) || std::chrono::steady_clock::now() + pause >= give_up_at) {
      std::map<std::string, std::string> causes;
      for (const auto& [endpoint, trouble] : troubles) {
        causes[endpoint] = Diagnose(endpoint, connection.credentials(), trouble);
      }
      return {status.error_code(), Troubles::TextOf(causes), status.error_details()};
    }
    connection.MoveOn();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tenure
