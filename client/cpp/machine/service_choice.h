// Which service a client belongs to, decided from the answers of its endpoints. Pure.
//
// Each database is one service. An endpoint that works on another database must not be used: its
// replica would elect a second leader.
#pragma once

#include <grpcpp/support/status.h>

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace tenure {

// What one endpoint answered to Identify.
struct EndpointAnswer {
  std::string endpoint;
  std::optional<std::string> service_id;  // nothing: it did not answer
};

// What the client knew before it asked.
struct KnownService {
  std::string id;       // empty: nothing
  bool pinned = false;  // by an option
};

// The id of the service to use. Endpoints that answered with another id are not to be used.
//
// The id that more than half of the endpoints answered with, so that all clients of the same
// endpoints use the same service. If there is none, a known service is kept while one of its
// endpoints answers, or one does not answer at all; if none is known, the id that more endpoints
// answered with than with any other. A pinned service is always kept. Errors:
// - FAILED_PRECONDITION with WRONG_SERVICE: the endpoints disagree, or none belongs to the service.
// - UNAVAILABLE: none is known, and nobody answered.
// The owner of a session of the known service ends it when another one is chosen.
[[nodiscard]] tl::expected<std::string, grpc::Status> ChooseService(
    const KnownService& known, const std::vector<EndpointAnswer>& answers);

// Whether more than half of the endpoints agree on one service, and on the pinned one if there is
// one. Then the other answers do not matter.
[[nodiscard]] bool MostAgree(const KnownService& known, const std::vector<EndpointAnswer>& answers);

}  // namespace tenure
