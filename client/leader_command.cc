#include <thread>

#include "client/commands.h"
#include "client/connection.h"
#include "client/output.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;

}  // namespace

int RunLeader(const CommonOptions& common, const std::string& election) {
  const Output output(common.json);
  Connection connection(common.endpoints);
  v1::LeaderRequest request;
  request.set_election(election);
  const auto give_up_at = std::chrono::system_clock::now() + kPatience;
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(give_up_at);
    v1::LeaderResponse response;
    const grpc::Status status = connection.Connect()
                                    ? connection.stub()->Leader(&context, request, &response)
                                    : Unreachable();
    if (status.ok()) {
      const bool led = response.has_leader();
      const Json leader = led ? Json(response.leader().candidate()) : Json(nullptr);
      const Json value = led ? Json(response.leader().value()) : Json(nullptr);
      output.Line(
          {{"election", election}, {"leader", leader}, {"term", response.term()}, {"value", value}},
          led ? election + ": " + response.leader().candidate() + " leads in term " +
                    std::to_string(response.term())
              : election + ": nobody leads");
      return EXIT_SUCCESS;
    }
    const auto pause = connection.Backoff();
    if (!IsTransient(status) || std::chrono::system_clock::now() + pause >= give_up_at) {
      Output::Complain(status);
      return kExitError;
    }
    connection.MoveOn();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tenure
