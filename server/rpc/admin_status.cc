// A replica's status, which it reports even without its database.
#include "base/version.h"
#include "server/rpc/admin_service.h"

namespace tenure::rpc {

void AdminService::Status(wire::ServerCall& call, const v1::StatusRequest& /*request*/) {
  const auto caller = access_.Admit(call.context(), access::Verb::kInspect, {});
  if (!caller) return wire::Refuse(call, caller.error());
  const auto status = engine_.status();
  v1::StatusResponse response;
  response.set_version(kVersion);
  response.set_service_id(engine_.service_id());
  response.set_ready(status.ready);
  if (!status.ready) response.set_not_ready_reason(status.why_not);
  v1::DatabaseStatus& database = *response.mutable_database();
  database.set_server(store_);
  if (status.server) {
    database.set_engine(status.server->name);
    database.set_server(status.server->address);
  }
  database.set_available(status.store_answers);
  if (!status.store_answers) database.set_error(status.why_not);
  if (status.statistics) {
    v1::ServiceCounts& counts = *response.mutable_counts();
    counts.set_elections(status.statistics->elections);
    counts.set_leaders(status.statistics->led);
    counts.set_sessions(status.statistics->sessions);
  }
  call.Answer(response);
}

}  // namespace tenure::rpc
