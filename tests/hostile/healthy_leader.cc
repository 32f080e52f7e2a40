#include "tests/hostile/healthy_leader.h"

#include <utility>

namespace tenure::testing {
namespace {

constexpr auto kLease = 5s;
constexpr auto kRenewalInterval = 1500ms;

}  // namespace

HealthyLeader::HealthyLeader(Tenured& server, std::string election)
    : server_(server), election_(std::move(election)) {
  const auto campaigned =
      Campaign(server_, {.election = election_, .candidate = "healthy", .lease_ttl = kLease});
  EXPECT_TRUE(campaigned.has_elected());
  session_ = campaigned.session().session_id();
  term_ = campaigned.elected().term();
  thread_ = std::thread([this] { Run(); });
}

HealthyLeader::~HealthyLeader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HealthyLeader::Run() {
  const auto stub = Connect(server_.endpoint());
  while (true) {
    const auto began = std::chrono::steady_clock::now();
    while (!Renew(*stub)) {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    std::unique_lock lock(mutex_);
    worst_ = std::max(worst_, took);
    if (changed_.wait_until(lock, began + kRenewalInterval, [&] { return stopping_; })) return;
  }
}

bool HealthyLeader::Renew(v1::ElectionService::Stub& stub) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRenewalInterval);
  context.set_wait_for_ready(true);
  const auto stream = stub.KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.add_session_ids(session_);
  v1::KeepAliveResponse response;
  return stream->Write(request) && stream->Read(&response);
}

std::chrono::milliseconds HealthyLeader::WorstRenewal() {
  const std::lock_guard lock(mutex_);
  return worst_;
}

void HealthyLeader::ExpectSeat() {
  const auto leader = Leader(server_, election_);
  EXPECT_EQ(leader.leader().candidate(), "healthy");
  EXPECT_EQ(leader.term(), term_);
}

}  // namespace tenure::testing
