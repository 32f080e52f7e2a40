// Tells other replicas how far this one has committed, so that they need not poll the database all
// the time. The other end is server/rpc/peers.h.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/lineage.h"
#include "metrics/metrics.h"
#include "server/rpc/shared_settings.h"
#include "server/wire/broadcast.h"
#include "server/wire/dispatcher.h"
#include "storage/law_store.h"
#include "tenure/replicas.pb.h"

namespace tenure::rpc {

// Thread-safe. Must outlive the server.
class ReplicaService final {
 public:
  // `id` is this replica's in the table `homes` (Peer).
  ReplicaService(Metrics& metrics, std::string id, SharedSettings settings);

  // Refuses followers of another service, and calls `on_follower` for each one that it accepts.
  // Call before the server starts.
  void Serve(std::function<std::string()> service_id, std::function<void()> on_follower) {
    service_id_ = std::move(service_id);
    on_follower_ = std::move(on_follower);
  }

  [[nodiscard]] const std::string& id() const { return id_; }

  // Call once.
  void AddTo(wire::Dispatcher& dispatcher);

  // This replica has committed. Does not block.
  void Committed(PartitionOffset at);
  // Ends all streams, and accepts no more.
  void Drain();

 private:
  void Follow(wire::ServerCall& call, const replicas::FollowRequest& request);
  // Logs what is new about the settings of a follower.
  void Compare(const replicas::FollowRequest& request);

  const std::string id_;
  OtherSettings others_;
  std::function<std::string()> service_id_ = [] { return std::string(); };
  std::function<void()> on_follower_ = [] {};
  std::atomic<size_t> followers_ = 0;
  wire::Broadcast<replicas::FollowResponse> committed_;
};

}  // namespace tenure::rpc
