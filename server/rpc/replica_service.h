// Tells other replicas how far this one has committed, so that they need not ask the database all
// the time. The other end is server/rpc/peers.h.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/lineage.h"
#include "core/mutex.h"
#include "metrics/metrics.h"
#include "server/rpc/shared_settings.h"
#include "storage/law_store.h"
#include "tenure/replicas.grpc.pb.h"

namespace tenure::rpc {

// Thread-safe. Must outlive the server.
class ReplicaService final : public replicas::ReplicaService::CallbackService {
 public:
  // `id` is this replica's in the table `homes` (Peer).
  ReplicaService(Metrics& metrics, std::string id, SharedSettings settings)
      : metrics_(metrics), id_(std::move(id)), others_(std::move(settings)) {}

  // Followers of another service than this one are refused. `on_follower` is called when one has
  // been accepted. Before the server starts.
  void Serve(std::function<std::string()> service_id, std::function<void()> on_follower) {
    service_id_ = std::move(service_id);
    on_follower_ = std::move(on_follower);
  }

  [[nodiscard]] const std::string& id() const { return id_; }

  grpc::ServerWriteReactor<replicas::FollowResponse>* Follow(
      grpc::CallbackServerContext* context, const replicas::FollowRequest* request) override;

  // This replica has committed. Does not block.
  void Committed(PartitionOffset at);
  // Ends all streams, and takes no more.
  void Drain();

 private:
  class Follower;

  // Logs what is new about the settings of a follower.
  void Compare(const replicas::FollowRequest& request);
  void Leave(const std::shared_ptr<Follower>& follower);

  Metrics& metrics_;
  const std::string id_;
  OtherSettings others_;
  std::function<std::string()> service_id_ = [] { return std::string(); };
  std::function<void()> on_follower_ = [] {};

  Mutex mutex_;
  bool draining_ TENURE_GUARDED_BY(mutex_) = false;
  PartitionOffsets committed_ TENURE_GUARDED_BY(mutex_){};
  std::set<std::shared_ptr<Follower>> followers_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::rpc
