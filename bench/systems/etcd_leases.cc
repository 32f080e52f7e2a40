#include "bench/systems/etcd_leases.h"

#include <utility>
#include <vector>

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 50ms;
constexpr int kRenewalsPerLease = 3;

}  // namespace

EtcdLeases::EtcdLeases(const std::shared_ptr<grpc::Channel>& channel)
    : stub_(etcdserverpb::Lease::NewStub(channel)),
      stream_(
          "LeaseKeepAlive",
          [this](auto* context, auto* queue) {
            return stub_->PrepareAsyncLeaseKeepAlive(context, queue);
          },
          [](const auto& /*answer*/) { return true; }),
      renewing_([this] { Renew(); }) {}

EtcdLeases::~EtcdLeases() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopping_changed_.notify_all();
  renewing_.join();
}

void EtcdLeases::Keep(int64_t lease, Clock::duration ttl) {
  const std::lock_guard lock(mutex_);
  kept_[lease] = {ttl, Clock::now() + ttl / kRenewalsPerLease};
}

void EtcdLeases::Drop(int64_t lease) {
  const std::lock_guard lock(mutex_);
  kept_.erase(lease);
}

void EtcdLeases::Renew() {
  while (true) {
    std::vector<int64_t> due;
    {
      std::unique_lock lock(mutex_);
      if (stopping_changed_.wait_for(lock, kLook, [&] { return stopping_; })) return;
      const auto now = Clock::now();
      for (auto& [lease, kept] : kept_) {
        if (kept.next > now) continue;
        kept.next = now + kept.ttl / kRenewalsPerLease;
        due.push_back(lease);
      }
    }
    for (const int64_t lease : due) {
      etcdserverpb::LeaseKeepAliveRequest request;
      request.set_id(lease);
      // An expired lease shows by itself: the candidate loses its place.
      stream_.Ask(std::move(request),
                  [this](const std::string& /*error*/) { answered_.release(); });
      answered_.acquire();
    }
  }
}

}  // namespace tenure::bench
