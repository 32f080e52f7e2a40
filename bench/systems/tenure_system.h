// Tenure, through its gRPC contract.
#pragma once

#include "bench/systems/grpc_client.h"
#include "bench/systems/system.h"
#include "tenure/v1/admin.grpc.pb.h"
#include "tenure/v1/election.grpc.pb.h"

namespace tenure::bench {

class TenureSystem : public System {
 public:
  explicit TenureSystem(const std::string& endpoint);

  std::unique_ptr<Candidate> NewCandidate(const CandidateOptions& options) override;
  uint64_t CountStanding(const std::string& election) override;

  // For works that only Tenure does.
  [[nodiscard]] std::shared_ptr<v1::ElectionService::Stub> NewStub();

 private:
  Connections connections_;
  const std::unique_ptr<v1::AdminService::Stub> admin_;
};

}  // namespace tenure::bench
