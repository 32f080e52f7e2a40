// The gRPC service for candidates and observers: reads requests, asks the engine, and writes
// answers. Thread-safe.
#pragma once

#include "server/access/access.h"
#include "server/access/open_calls.h"
#include "server/calls/observe.h"
#include "server/engine/engine.h"
#include "server/rpc/send_budgets.h"
#include "server/wire/dispatcher.h"
#include "tenure/v1/election.pb.h"

namespace tenure::rpc {

// Must outlive the server.
class ElectionService final {
 public:
  ElectionService(engine::Engine& engine, access::Access& access, calls::ObserveOptions observe)
      : engine_(engine),
        access_(access),
        observe_(observe),
        open_calls_(engine::EngineOptions().watchers_max) {}

  // Call once.
  void AddTo(wire::Dispatcher& dispatcher);

 private:
  void Campaign(wire::ServerCall& call, const v1::CampaignRequest& request);
  void KeepAlive(wire::ServerCall& call);
  void Proclaim(wire::ServerCall& call, const v1::ProclaimRequest& request);
  void Resign(wire::ServerCall& call, const v1::ResignRequest& request);
  void Leader(wire::ServerCall& call, const v1::LeaderRequest& request);
  void Observe(wire::ServerCall& call, const v1::ObserveRequest& request);
  void Identify(wire::ServerCall& call, const v1::IdentifyRequest& request);

  engine::Engine& engine_;
  access::Access& access_;
  const calls::ObserveOptions observe_;
  access::OpenCalls open_calls_;
  SendBudgets send_budgets_;
};

}  // namespace tenure::rpc
