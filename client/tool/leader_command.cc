#include "client/tool/call.h"
#include "client/tool/commands.h"
#include "client/tool/output.h"

namespace tenure {

int RunLeader(const CommonOptions& common, const std::string& election) {
  const Output output(common.json);
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  v1::LeaderRequest request;
  request.set_election(election);
  v1::LeaderResponse response;
  const auto status = Call(connection, &v1::ElectionService::Stub::Leader, request, &response);
  if (!status.ok()) return Output::Complain(status);

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

}  // namespace tenure
