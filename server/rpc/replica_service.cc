#include "server/rpc/replica_service.h"

#include <algorithm>
#include <utility>

#include "server/log/log.h"

namespace tenure::rpc {
namespace {

constexpr size_t kFollowersMax = 64;
constexpr size_t kAddressBytesMax = 255;

replicas::FollowResponse NothingCommitted() {
  replicas::FollowResponse message;
  message.mutable_offsets()->Resize(static_cast<int>(PartitionOffsets().size()), 0);
  return message;
}

}  // namespace

ReplicaService::ReplicaService(Metrics& metrics, std::string id, SharedSettings settings)
    : id_(std::move(id)),
      others_(std::move(settings)),
      committed_(NothingCommitted(), [this, &metrics](size_t followers) {
        followers_ = followers;
        metrics.followers.Set(static_cast<double>(followers));
      }) {}

void ReplicaService::AddTo(wire::Dispatcher& dispatcher) {
  const auto& service = *replicas::FollowRequest::descriptor()->file()->service(0);
  dispatcher.Add(service, "Follow", *this, &ReplicaService::Follow);
}

void ReplicaService::Follow(wire::ServerCall& call, const replicas::FollowRequest& request) {
  if (const std::string own = service_id_(); !own.empty() && own != request.service_id()) {
    return call.Finish(
        {grpc::StatusCode::FAILED_PRECONDITION,
         "this replica belongs to service " + own + ": it works on another database"});
  }
  if (request.replica_id() != id_) {
    return call.Finish({grpc::StatusCode::NOT_FOUND, "this is another replica"});
  }
  if (followers_ >= kFollowersMax) {
    return call.Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many replicas follow"});
  }
  if (!committed_.Join(call)) return;
  Compare(request);
  on_follower_();
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
  committed_.Update([&](replicas::FollowResponse& it) {
    const uint64_t known = it.offsets(at.partition);
    it.set_offsets(at.partition, std::max(known, at.offset));
  });
}

void ReplicaService::Drain() {
  committed_.End({grpc::StatusCode::UNAVAILABLE, "this replica is draining"});
}

}  // namespace tenure::rpc
