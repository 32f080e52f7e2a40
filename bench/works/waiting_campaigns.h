// Many Campaign calls that wait in one election, each for a session that it opened.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/systems/tenure_system.h"

namespace tenure::bench {

// Thread-safe.
class WaitingCampaigns {
 public:
  // Begins them. REQUIRES: somebody leads the election, and keeps leading.
  WaitingCampaigns(TenureSystem& system, const std::string& election, size_t count);
  ~WaitingCampaigns();  // cancels them
  WaitingCampaigns(const WaitingCampaigns&) = delete;
  WaitingCampaigns& operator=(const WaitingCampaigns&) = delete;

  // Cancels all at once. Returns when the client knows that they have ended. Throws if one ended
  // otherwise.
  void Cancel();

 private:
  void Ended(const grpc::Status& status);

  const std::vector<std::shared_ptr<v1::ElectionService::Stub>> stubs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t ended_ = 0;   // guarded by mutex_
  std::string error_;  // guarded by mutex_
  std::vector<std::unique_ptr<UnaryCall<v1::CampaignResponse>>> calls_;
};

}  // namespace tenure::bench
