// etcd, through its v3election and lease services.
#pragma once

#include "bench/systems/etcd_leases.h"
#include "bench/systems/grpc_client.h"
#include "bench/systems/system.h"
#include "proto/etcd.grpc.pb.h"

namespace tenure::bench {

class EtcdSystem : public System {
 public:
  explicit EtcdSystem(const std::string& endpoint);

  std::unique_ptr<Candidate> NewCandidate(const CandidateOptions& options) override;
  uint64_t CountStanding(const std::string& election) override;

 private:
  Connections connections_;
  const std::unique_ptr<etcdserverpb::KV::Stub> kv_;
  EtcdLeases leases_;
};

}  // namespace tenure::bench
