#include "bench/works/waiting_campaigns.h"

#include <google/protobuf/util/time_util.h>

#include <stdexcept>

namespace tenure::bench {
namespace {

using google::protobuf::util::TimeUtil;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr int64_t kLeaseSeconds = 60;
constexpr size_t kStubs = 32;

std::vector<std::shared_ptr<v1::ElectionService::Stub>> NewStubs(TenureSystem& system) {
  std::vector<std::shared_ptr<v1::ElectionService::Stub>> stubs;
  for (size_t number = 0; number < kStubs; ++number) stubs.push_back(system.NewStub());
  return stubs;
}

}  // namespace

WaitingCampaigns::WaitingCampaigns(TenureSystem& system, const std::string& election, size_t count)
    : stubs_(NewStubs(system)) {
  for (size_t number = 0; number < count; ++number) {
    v1::CampaignRequest request;
    request.set_election(election);
    request.set_candidate("waiting-" + std::to_string(number));
    *request.mutable_lease_ttl() = TimeUtil::SecondsToDuration(kLeaseSeconds);
    calls_.push_back(std::make_unique<UnaryCall<v1::CampaignResponse>>());
    calls_.back()->Begin(
        request,
        [&](auto&&... arguments) {
          return stubs_[number % stubs_.size()]->PrepareAsyncCampaign(arguments...);
        },
        [this](const grpc::Status& status, const v1::CampaignResponse&) { Ended(status); });
  }
}

WaitingCampaigns::~WaitingCampaigns() {
  for (const auto& call : calls_) call->context().TryCancel();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ == calls_.size(); });
}

void WaitingCampaigns::Cancel() {
  for (const auto& call : calls_) call->context().TryCancel();
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [&] { return ended_ == calls_.size(); })) {
    throw std::runtime_error("cancelled campaigns do not end");
  }
  if (!error_.empty()) throw std::runtime_error(error_);
}

void WaitingCampaigns::Ended(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (status.error_code() != grpc::StatusCode::CANCELLED) {
    error_ = ErrorText(status, "a waiting Campaign ended");
  }
  ++ended_;
  changed_.notify_all();
}

}  // namespace tenure::bench
