#include "bench/systems/etcd_system.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "proto/etcd_election.grpc.pb.h"

namespace tenure::bench {
namespace {

using WaitingCampaign = WaitingCall<v3electionpb::CampaignRequest, v3electionpb::CampaignResponse>;

class EtcdCandidate : public Candidate {
 public:
  EtcdCandidate(const std::shared_ptr<grpc::Channel>& channel, EtcdLeases& leases,
                CandidateOptions options)
      : options_(std::move(options)),
        election_service_(v3electionpb::Election::NewStub(channel)),
        lease_service_(etcdserverpb::Lease::NewStub(channel)),
        leases_(leases) {}

  ~EtcdCandidate() override {
    if (lease_ == 0) return;
    leases_.Drop(lease_);
    waiting_.reset();
    renewals_.reset();
    etcdserverpb::LeaseRevokeRequest request;
    request.set_id(lease_);
    etcdserverpb::LeaseRevokeResponse response;
    grpc::ClientContext context;
    (void)lease_service_->LeaseRevoke(&context, request, &response);
  }

  void Campaign(const std::string& election, Done done) override {
    EnsureLease();
    BeginCall<v3electionpb::CampaignResponse>(
        "Campaign", RequestFor(election),
        [&](auto&&... arguments) { return election_service_->PrepareAsyncCampaign(arguments...); },
        [this](const v3electionpb::CampaignResponse& response) {
          leader_key_ = response.leader();
          return std::string();
        },
        std::move(done));
  }

  void Stand(const std::string& election, Done told) override {
    EnsureLease();
    leases_.Keep(lease_, options_.lease);
    waiting_.emplace(
        RequestFor(election),
        [&](auto&&... arguments) { return election_service_->PrepareAsyncCampaign(arguments...); },
        [this, told = std::move(told)](const grpc::Status& status,
                                       const v3electionpb::CampaignResponse& answer) {
          if (status.error_code() == grpc::StatusCode::CANCELLED) return;
          leases_.Drop(lease_);
          leader_key_ = answer.leader();
          told(status.error_message());
        });
  }

  void Resign(Done done) override {
    v3electionpb::ResignRequest request;
    *request.mutable_leader() = leader_key_;
    BeginCall<v3electionpb::ResignResponse>(
        "Resign", request,
        [&](auto&&... arguments) { return election_service_->PrepareAsyncResign(arguments...); },
        [](const v3electionpb::ResignResponse&) { return std::string(); }, std::move(done));
  }

  void KeepAlive(Done done) override {
    if (!renewals_) {
      renewals_.emplace(
          "LeaseKeepAlive",
          [&](auto&&... arguments) {
            return lease_service_->PrepareAsyncLeaseKeepAlive(arguments...);
          },
          [](const etcdserverpb::LeaseKeepAliveResponse& response) {
            return std::optional(response.ttl() > 0);
          });
    }
    etcdserverpb::LeaseKeepAliveRequest request;
    request.set_id(lease_);
    renewals_->Ask(request, std::move(done));
  }

  void AskLeader(const std::string& election, Done done) override {
    v3electionpb::LeaderRequest request;
    request.set_name(election);
    BeginCall<v3electionpb::LeaderResponse>(
        "Leader", request,
        [&](auto&&... arguments) { return election_service_->PrepareAsyncLeader(arguments...); },
        [](const v3electionpb::LeaderResponse& response) {
          return std::string(response.kv().value().empty() ? "nobody leads" : "");
        },
        std::move(done));
  }

 private:
  // Only when it stands: a short lease would expire before many other candidates are ready.
  void EnsureLease() {
    if (lease_ != 0) return;
    etcdserverpb::LeaseGrantRequest request;
    request.set_ttl(options_.lease.count());
    etcdserverpb::LeaseGrantResponse response;
    MakeCall("LeaseGrant", [&](grpc::ClientContext& context) {
      return lease_service_->LeaseGrant(&context, request, &response);
    });
    if (!response.error().empty()) throw std::runtime_error("LeaseGrant: " + response.error());
    lease_ = response.id();
  }

  [[nodiscard]] v3electionpb::CampaignRequest RequestFor(const std::string& election) const {
    v3electionpb::CampaignRequest request;
    request.set_name(election);
    request.set_lease(lease_);
    request.set_value(options_.name);
    return request;
  }

  const CandidateOptions options_;
  const std::unique_ptr<v3electionpb::Election::Stub> election_service_;
  const std::unique_ptr<etcdserverpb::Lease::Stub> lease_service_;
  EtcdLeases& leases_;
  int64_t lease_ = 0;  // none yet
  v3electionpb::LeaderKey leader_key_;
  std::optional<
      Conversation<etcdserverpb::LeaseKeepAliveRequest, etcdserverpb::LeaseKeepAliveResponse>>
      renewals_;
  std::optional<WaitingCampaign> waiting_;
};

}  // namespace

EtcdSystem::EtcdSystem(const std::string& endpoint)
    : connections_(endpoint),
      kv_(etcdserverpb::KV::NewStub(connections_.Shared())),
      leases_(connections_.Shared()) {}

std::unique_ptr<Candidate> EtcdSystem::NewCandidate(const CandidateOptions& options) {
  return std::make_unique<EtcdCandidate>(connections_.For(options), leases_, options);
}

uint64_t EtcdSystem::CountStanding(const std::string& election) {
  etcdserverpb::RangeRequest request;
  request.set_key(election + "/");
  request.set_range_end(election + "0");  // '0' is the character after the slash
  request.set_count_only(true);
  etcdserverpb::RangeResponse response;
  MakeCall("Range",
           [&](grpc::ClientContext& context) { return kv_->Range(&context, request, &response); });
  return static_cast<uint64_t>(response.count());
}

}  // namespace tenure::bench
