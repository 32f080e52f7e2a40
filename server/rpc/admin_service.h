// The gRPC face of the engine for operators. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "server/access/access.h"
#include "server/engine/engine.h"
#include "tenure/v1/admin.grpc.pb.h"

namespace tenure::rpc {

class AdminService final : public v1::AdminService::CallbackService {
 public:
  // `store` is the database as operators name it, before one of its servers has answered.
  AdminService(engine::Engine& engine, access::Access& access, std::string store)
      : engine_(engine), access_(access), store_(std::move(store)) {}

  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context,
                                   const v1::StatusRequest* request,
                                   v1::StatusResponse* response) override;
  grpc::ServerUnaryReactor* ListElections(grpc::CallbackServerContext* context,
                                          const v1::ListElectionsRequest* request,
                                          v1::ListElectionsResponse* response) override;
  grpc::ServerUnaryReactor* DescribeElection(grpc::CallbackServerContext* context,
                                             const v1::DescribeElectionRequest* request,
                                             v1::DescribeElectionResponse* response) override;
  grpc::ServerUnaryReactor* ListTerms(grpc::CallbackServerContext* context,
                                      const v1::ListTermsRequest* request,
                                      v1::ListTermsResponse* response) override;
  grpc::ServerUnaryReactor* ListChanges(grpc::CallbackServerContext* context,
                                        const v1::ListChangesRequest* request,
                                        v1::ListChangesResponse* response) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* Appoint(grpc::CallbackServerContext* context,
                                    const v1::AppointRequest* request,
                                    v1::AppointResponse* response) override;
  grpc::ServerUnaryReactor* Depose(grpc::CallbackServerContext* context,
                                   const v1::DeposeRequest* request,
                                   v1::DeposeResponse* response) override;
  grpc::ServerUnaryReactor* Pause(grpc::CallbackServerContext* context,
                                  const v1::PauseRequest* request,
                                  v1::PauseResponse* response) override;
  grpc::ServerUnaryReactor* Resume(grpc::CallbackServerContext* context,
                                   const v1::ResumeRequest* request,
                                   v1::ResumeResponse* response) override;
  grpc::ServerUnaryReactor* UpdateElection(grpc::CallbackServerContext* context,
                                           const v1::UpdateElectionRequest* request,
                                           v1::UpdateElectionResponse* response) override;
  grpc::ServerUnaryReactor* DeleteElection(grpc::CallbackServerContext* context,
                                           const v1::DeleteElectionRequest* request,
                                           v1::DeleteElectionResponse* response) override;
  grpc::ServerUnaryReactor* PurgeElections(grpc::CallbackServerContext* context,
                                           const v1::PurgeElectionsRequest* request,
                                           v1::PurgeElectionsResponse* response) override;
  grpc::ServerUnaryReactor* EndSession(grpc::CallbackServerContext* context,
                                       const v1::EndSessionRequest* request,
                                       v1::EndSessionResponse* response) override;

 private:
  // Parses a request into a command, has it applied, and fills the answer from the election.
  template <typename Request, typename Response>
  grpc::ServerUnaryReactor* Change(grpc::CallbackServerContext* context, const Request& request,
                                   Response* response,
                                   void (*fill)(const AdminAnswer&, const Request&, Response&));
  // Reads one page and fills the answer with it, unless the request was refused.
  template <typename Page, typename Response>
  grpc::ServerUnaryReactor* Show(
      grpc::CallbackServerContext* context, const access::Target& target, Response* response,
      Result<std::function<Result<Page>(OperatorStore&)>> read,
      std::type_identity_t<std::function<void(const Page&, Response&)>> fill,
      access::Verb verb = access::Verb::kInspect);

  engine::Engine& engine_;
  access::Access& access_;
  const std::string store_;
};

}  // namespace tenure::rpc
