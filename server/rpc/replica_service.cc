#include "server/rpc/replica_service.h"

#include <algorithm>
#include <utility>

#include "server/log/log.h"

namespace tenure::rpc {
namespace {

constexpr size_t kFollowersMax = 64;
constexpr size_t kAddressBytesMax = 255;

// Refuses a stream.
class Refusal final : public grpc::ServerWriteReactor<replicas::FollowResponse> {
 public:
  explicit Refusal(const grpc::Status& why) { Finish(why); }
  void OnDone() override { delete this; }
};

}  // namespace

// One stream. At most one message is on its way; what is committed meanwhile is in the next one.
class ReplicaService::Follower final : public grpc::ServerWriteReactor<replicas::FollowResponse>,
                                       public std::enable_shared_from_this<Follower> {
 public:
  explicit Follower(ReplicaService& service) : service_(service) {}

  void Tell(const PartitionOffsets& committed) {
    const MutexLock lock(mutex_);
    if (over_) return;
    // Two threads may tell in the other order.
    for (size_t i = 0; i < committed_.size(); ++i) {
      committed_[i] = std::max(committed_[i], committed[i]);
    }
    if (std::exchange(is_news_, true) || writing_) return;
    Write();
  }

  void End(const grpc::Status& why) {
    const MutexLock lock(mutex_);
    if (!std::exchange(over_, true)) Finish(why);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return End(grpc::Status::CANCELLED);
    const MutexLock lock(mutex_);
    writing_ = false;
    if (!over_ && is_news_) Write();
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override { service_.Leave(shared_from_this()); }

 private:
  void Write() TENURE_REQUIRES(mutex_) {
    is_news_ = false;
    writing_ = true;
    message_.mutable_offsets()->Assign(committed_.begin(), committed_.end());
    StartWrite(&message_);
  }

  ReplicaService& service_;
  Mutex mutex_;
  PartitionOffsets committed_ TENURE_GUARDED_BY(mutex_){};
  bool is_news_ TENURE_GUARDED_BY(mutex_) = false;
  bool writing_ TENURE_GUARDED_BY(mutex_) = false;
  bool over_ TENURE_GUARDED_BY(mutex_) = false;
  replicas::FollowResponse message_;  // on its way
};

grpc::ServerWriteReactor<replicas::FollowResponse>* ReplicaService::Follow(
    grpc::CallbackServerContext* /*context*/, const replicas::FollowRequest* request) {
  if (const std::string own = service_id_(); !own.empty() && own != request->service_id()) {
    return new Refusal(
        {grpc::StatusCode::FAILED_PRECONDITION,
         "this replica belongs to service " + own + ": it works on another database"});
  }
  if (request->replica_id() != id_) {
    return new Refusal({grpc::StatusCode::NOT_FOUND, "this is another replica"});
  }
  auto follower = std::make_shared<Follower>(*this);
  PartitionOffsets committed;
  {
    const MutexLock lock(mutex_);
    if (draining_) return new Refusal({grpc::StatusCode::UNAVAILABLE, "this replica is draining"});
    if (followers_.size() >= kFollowersMax) {
      return new Refusal({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many replicas follow"});
    }
    followers_.insert(follower);
    committed = committed_;
  }
  follower->Tell(committed);
  {
    const MutexLock lock(mutex_);
    metrics_.followers.Set(static_cast<double>(followers_.size()));
  }
  Compare(*request);
  on_follower_();
  return follower.get();
}

void ReplicaService::Compare(const replicas::FollowRequest& request) {
  if (request.settings().empty()) return;  // of an older version
  const std::string address = request.address().substr(0, kAddressBytesMax);
  const auto news = others_.Learn(address, {request.settings().begin(), request.settings().end()});
  if (!news) return;
  if (news->empty()) {
    LogInfo("another replica has the same settings again", {{"replica", address}});
  } else {
    LogWarning("another replica on this database has other settings; each acts by its own",
               {{"replica", address}, {"settings", *news}});
  }
}

void ReplicaService::Committed(PartitionOffset at) {
  PartitionOffsets committed;
  std::vector<std::shared_ptr<Follower>> followers;
  {
    const MutexLock lock(mutex_);
    uint64_t& known = committed_[static_cast<size_t>(at.partition)];
    known = std::max(known, at.offset);
    committed = committed_;
    followers.assign(followers_.begin(), followers_.end());
  }
  for (const auto& follower : followers) follower->Tell(committed);
}

void ReplicaService::Drain() {
  std::vector<std::shared_ptr<Follower>> followers;
  {
    const MutexLock lock(mutex_);
    draining_ = true;
    followers.assign(followers_.begin(), followers_.end());
  }
  for (const auto& follower : followers) {
    follower->End({grpc::StatusCode::UNAVAILABLE, "this replica is draining"});
  }
}

void ReplicaService::Leave(const std::shared_ptr<Follower>& follower) {
  const MutexLock lock(mutex_);
  followers_.erase(follower);
  metrics_.followers.Set(static_cast<double>(followers_.size()));
}

}  // namespace tenure::rpc
