#include "bench/systems/tenure_system.h"

#include <google/protobuf/util/time_util.h>

#include <optional>
#include <utility>

namespace tenure::bench {
namespace {

using google::protobuf::util::TimeUtil;
using WaitingCampaign = WaitingCall<v1::CampaignRequest, v1::CampaignResponse>;

class TenureCandidate : public Candidate {
 public:
  TenureCandidate(const std::shared_ptr<grpc::Channel>& channel, CandidateOptions options)
      : options_(std::move(options)), stub_(v1::ElectionService::NewStub(channel)) {}

  ~TenureCandidate() override {
    waiting_.reset();
    renewals_.reset();
    if (session_id_.empty()) return;
    v1::ResignRequest request;
    request.set_session_id(session_id_);
    v1::ResignResponse response;
    grpc::ClientContext context;
    (void)stub_->Resign(&context, request, &response);
  }

  void Campaign(const std::string& election, Done done) override {
    BeginCall<v1::CampaignResponse>(
        "Campaign", RequestFor(election),
        [&](auto&&... arguments) { return stub_->PrepareAsyncCampaign(arguments...); },
        [this](const v1::CampaignResponse& response) { return Lead(response); }, std::move(done));
  }

  // The open call keeps its session alive, from the transaction that opens it.
  void Stand(const std::string& election, Done told) override {
    waiting_.emplace(
        RequestFor(election),
        [&](auto&&... arguments) { return stub_->PrepareAsyncCampaign(arguments...); },
        [this, told = std::move(told)](const grpc::Status& status,
                                       const v1::CampaignResponse& answer) {
          if (status.error_code() == grpc::StatusCode::CANCELLED) return;
          told(status.ok() ? Lead(answer) : ErrorText(status, "Campaign"));
        });
  }

  void Resign(Done done) override {
    v1::ResignRequest request;
    request.set_session_id(session_id_);
    request.set_election(leadership_.election());
    request.set_term(leadership_.term());
    BeginCall<v1::ResignResponse>(
        "Resign", request,
        [&](auto&&... arguments) { return stub_->PrepareAsyncResign(arguments...); },
        [](const v1::ResignResponse&) { return std::string(); }, std::move(done));
  }

  void KeepAlive(Done done) override {
    if (!renewals_) {
      renewals_.emplace(
          "KeepAlive",
          [&](auto&&... arguments) { return stub_->PrepareAsyncKeepAlive(arguments...); },
          [](const v1::KeepAliveResponse& response) -> std::optional<bool> {
            if (!response.has_renewal()) return std::nullopt;
            return response.renewal().sessions(0).has_lease_ttl();
          });
    }
    v1::KeepAliveRequest request;
    request.set_sequence(++sequence_);
    request.add_session_ids(session_id_);
    renewals_->Ask(request, std::move(done));
  }

  void AskLeader(const std::string& election, Done done) override {
    v1::LeaderRequest request;
    request.set_election(election);
    BeginCall<v1::LeaderResponse>(
        "Leader", request,
        [&](auto&&... arguments) { return stub_->PrepareAsyncLeader(arguments...); },
        [](const v1::LeaderResponse& response) {
          return std::string(response.has_leader() ? "" : "nobody leads");
        },
        std::move(done));
  }

 private:
  [[nodiscard]] v1::CampaignRequest RequestFor(const std::string& election) const {
    v1::CampaignRequest request;
    request.set_election(election);
    request.set_session_id(session_id_);
    request.set_candidate(options_.name);
    if (session_id_.empty()) {
      *request.mutable_lease_ttl() = TimeUtil::SecondsToDuration(options_.lease.count());
    }
    return request;
  }

  // An error, or nothing.
  std::string Lead(const v1::CampaignResponse& response) {
    if (!response.has_elected()) return "Campaign: not elected";
    session_id_ = response.session().session_id();
    leadership_ = response.elected();
    return "";
  }

  const CandidateOptions options_;
  const std::unique_ptr<v1::ElectionService::Stub> stub_;
  std::string session_id_;
  v1::Leadership leadership_;
  std::optional<Conversation<v1::KeepAliveRequest, v1::KeepAliveResponse>> renewals_;
  uint64_t sequence_ = 0;
  std::optional<WaitingCampaign> waiting_;
};

}  // namespace

TenureSystem::TenureSystem(const std::string& endpoint)
    : connections_(endpoint), admin_(v1::AdminService::NewStub(connections_.Shared())) {}

std::unique_ptr<Candidate> TenureSystem::NewCandidate(const CandidateOptions& options) {
  return std::make_unique<TenureCandidate>(connections_.For(options), options);
}

uint64_t TenureSystem::CountStanding(const std::string& election) {
  v1::DescribeElectionRequest request;
  request.set_election(election);
  request.set_page_size(1);
  v1::DescribeElectionResponse response;
  MakeCall("DescribeElection", [&](grpc::ClientContext& context) {
    const grpc::Status status = admin_->DescribeElection(&context, request, &response);
    const bool unknown = status.error_code() == grpc::StatusCode::NOT_FOUND;
    return unknown ? grpc::Status::OK : status;  // nobody has stood there yet
  });
  return response.election().candidates() + (response.election().has_leader() ? 1 : 0);
}

std::shared_ptr<v1::ElectionService::Stub> TenureSystem::NewStub() {
  return v1::ElectionService::NewStub(connections_.Shared());
}

}  // namespace tenure::bench
