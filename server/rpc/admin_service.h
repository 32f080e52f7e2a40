// The gRPC service for operators. Thread-safe. Must outlive the server.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "server/access/access.h"
#include "server/engine/engine.h"
#include "server/wire/dispatcher.h"
#include "tenure/v1/admin.pb.h"

namespace tenure::rpc {

class AdminService final {
 public:
  // `store` names the database for operators until one of its servers has answered.
  AdminService(engine::Engine& engine, access::Access& access, std::string store)
      : engine_(engine), access_(access), store_(std::move(store)) {}

  // Call once.
  void AddTo(wire::Dispatcher& dispatcher);

 private:
  void Status(wire::ServerCall& call, const v1::StatusRequest& request);
  void ListElections(wire::ServerCall& call, const v1::ListElectionsRequest& request);
  void DescribeElection(wire::ServerCall& call, const v1::DescribeElectionRequest& request);
  void ListTerms(wire::ServerCall& call, const v1::ListTermsRequest& request);
  void ListChanges(wire::ServerCall& call, const v1::ListChangesRequest& request);
  void ListSessions(wire::ServerCall& call, const v1::ListSessionsRequest& request);
  void PurgeElections(wire::ServerCall& call, const v1::PurgeElectionsRequest& request);
  void EndSession(wire::ServerCall& call, const v1::EndSessionRequest& request);

  // Admits the caller, and starts `work(caller, unary call)`, unless it refuses the call.
  template <typename Response, typename Work>
  void Begin(wire::ServerCall& call, access::Verb verb, const access::Target& target, Work work);
  // Parses a request into a command, has it applied, and fills the answer from the election.
  template <typename Request, typename Response>
  void Change(wire::ServerCall& call, const Request& request);
  // Reads one page and fills the answer with it, unless the request was refused.
  template <typename Page, typename Response>
  void Show(wire::ServerCall& call, access::Verb verb, const access::Target& target,
            Result<std::function<Result<Page>(OperatorStore&)>> read,
            std::function<void(const Page&, Response&)> fill);
  // Shows a page of a list. `read` gets the maximum number of rows; `token_of` the last row of the
  // page, after which the next one begins.
  template <typename Row, typename Response, typename Request>
  void List(wire::ServerCall& call, const Request& request, const access::Target& target,
            Result<std::function<Result<std::vector<Row>>(OperatorStore&, size_t)>> read,
            std::string (*token_of)(const Row&), void (*add)(const Row&, Response&));

  engine::Engine& engine_;
  access::Access& access_;
  const std::string store_;
};

}  // namespace tenure::rpc
