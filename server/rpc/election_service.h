// The gRPC face of the engine: reads requests, asks the engine, and writes answers. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/access/access.h"
#include "server/calls/observe.h"
#include "server/engine/engine.h"
#include "tenure/v1/election.grpc.pb.h"

namespace tenure::rpc {

// KeepAlive takes bytes: see rpc::BidiReactor.
using ElectionMethods = v1::ElectionService::WithCallbackMethod_Campaign<
    v1::ElectionService::WithRawCallbackMethod_KeepAlive<
        v1::ElectionService::WithCallbackMethod_Proclaim<
            v1::ElectionService::WithCallbackMethod_Resign<
                v1::ElectionService::WithCallbackMethod_Leader<
                    v1::ElectionService::WithCallbackMethod_Observe<
                        v1::ElectionService::WithCallbackMethod_Identify<
                            v1::ElectionService::Service>>>>>>>;

class ElectionService final : public ElectionMethods {
 public:
  ElectionService(engine::Engine& engine, access::Access& access, calls::ObserveOptions observe)
      : engine_(engine), access_(access), observe_(observe) {}

  grpc::ServerUnaryReactor* Campaign(grpc::CallbackServerContext* context,
                                     const v1::CampaignRequest* request,
                                     v1::CampaignResponse* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* KeepAlive(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Proclaim(grpc::CallbackServerContext* context,
                                     const v1::ProclaimRequest* request,
                                     v1::ProclaimResponse* response) override;
  grpc::ServerUnaryReactor* Resign(grpc::CallbackServerContext* context,
                                   const v1::ResignRequest* request,
                                   v1::ResignResponse* response) override;
  grpc::ServerUnaryReactor* Leader(grpc::CallbackServerContext* context,
                                   const v1::LeaderRequest* request,
                                   v1::LeaderResponse* response) override;
  grpc::ServerWriteReactor<v1::ObserveResponse>* Observe(
      grpc::CallbackServerContext* context, const v1::ObserveRequest* request) override;
  grpc::ServerUnaryReactor* Identify(grpc::CallbackServerContext* context,
                                     const v1::IdentifyRequest* request,
                                     v1::IdentifyResponse* response) override;

 private:
  engine::Engine& engine_;
  access::Access& access_;
  const calls::ObserveOptions observe_;
};

}  // namespace tenure::rpc
