#include "tests/hostile/healthy_leaders.h"

#include <iostream>
#include <utility>

namespace tenure::testing {
namespace {

constexpr auto kLease = 5s;
constexpr auto kRenewalInterval = 1500ms;

}  // namespace

HealthyLeaders::HealthyLeaders(Tenured& server, const std::vector<std::string>& elections,
                               std::shared_ptr<grpc::ChannelCredentials> credentials)
    : server_(server), credentials_(std::move(credentials)) {
  const auto stub = Connect(server_.endpoint(), credentials_);
  for (const std::string& election : elections) {
    grpc::ClientContext context;
    v1::CampaignResponse campaigned;
    const auto status = stub->Campaign(
        &context, ToRequest({.election = election, .candidate = "healthy", .lease_ttl = kLease}),
        &campaigned);
    EXPECT_TRUE(status.ok() && campaigned.has_elected()) << status.error_message();
    seats_.push_back({election, campaigned.elected().term()});
    renewal_.add_session_ids(campaigned.session().session_id());
  }
  thread_ = std::thread([this] { Run(); });
}

HealthyLeaders::~HealthyLeaders() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HealthyLeaders::Run() {
  const auto stub = Connect(server_.endpoint(), credentials_);
  while (true) {
    const auto began = std::chrono::steady_clock::now();
    while (!Renew(*stub)) {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      const auto failing = std::chrono::steady_clock::now() - began;
      worst_ = std::max(worst_, std::chrono::duration_cast<std::chrono::milliseconds>(failing));
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    std::unique_lock lock(mutex_);
    worst_ = std::max(worst_, took);
    ++renewals_;
    changed_.notify_all();
    if (changed_.wait_until(lock, began + kRenewalInterval, [&] { return stopping_; })) return;
  }
}

bool HealthyLeaders::Renew(v1::ElectionService::Stub& stub) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRenewalInterval);
  context.set_wait_for_ready(true);
  const auto stream = stub.KeepAlive(&context);
  v1::KeepAliveResponse response;
  if (stream->Write(renewal_) && stream->Read(&response)) return true;
  const grpc::Status status = stream->Finish();
  std::cout << "a renewal failed: " << status.error_code() << " " << status.error_message()
            << std::endl;
  return false;
}

void HealthyLeaders::AwaitRenewals(size_t more) {
  std::unique_lock lock(mutex_);
  const size_t enough = renewals_ + more;
  EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return renewals_ >= enough; }));
}

std::chrono::milliseconds HealthyLeaders::WorstRenewal() {
  const std::lock_guard lock(mutex_);
  return worst_;
}

void HealthyLeaders::ExpectSeats() {
  const auto stub = Connect(server_.endpoint(), credentials_);
  for (const Seat& seat : seats_) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    context.set_wait_for_ready(true);
    v1::LeaderRequest request;
    request.set_election(seat.election);
    v1::LeaderResponse leader;
    const auto status = stub->Leader(&context, request, &leader);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(leader.leader().candidate(), "healthy") << seat.election;
    EXPECT_EQ(leader.term(), seat.term) << seat.election;
  }
}

}  // namespace tenure::testing
