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
  void Appoint(wire::ServerCall& call, const v1::AppointRequest& request);
  void Depose(wire::ServerCall& call, const v1::DeposeRequest& request);
  void Pause(wire::ServerCall& call, const v1::PauseRequest& request);
  void Resume(wire::ServerCall& call, const v1::ResumeRequest& request);
  void UpdateElection(wire::ServerCall& call, const v1::UpdateElectionRequest& request);
  void DeleteElection(wire::ServerCall& call, const v1::DeleteElectionRequest& request);
  void PurgeElections(wire::ServerCall& call, const v1::PurgeElectionsRequest& request);
  void EndSession(wire::ServerCall& call, const v1::EndSessionRequest& request);

  // Parses a request into a command, has it applied, and fills the answer from the election.
  template <typename Request, typename Response>
  void Change(wire::ServerCall& call, const Request& request,
              void (*fill)(const AdminAnswer&, const Request&, Response&));
  // Reads one page and fills the answer with it, unless the request was refused.
  template <typename Page, typename Response>
  void Show(wire::ServerCall& call, const access::Target& target,
            Result<std::function<Result<Page>(OperatorStore&)>> read,
            std::function<void(const Page&, Response&)> fill,
            access::Verb verb = access::Verb::kInspect);

  engine::Engine& engine_;
  access::Access& access_;
  const std::string store_;
};

}  // namespace tenure::rpc
