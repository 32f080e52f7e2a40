// Follows the other replicas: each announces its commits.
//
// An announcement is a hint. A replica that cannot be reached, or lies, costs time: the database is
// read a little later, or once too often.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "core/lineage.h"
#include "metrics/metrics.h"
#include "server/engine/work/scheduler.h"
#include "server/rpc/shared_settings.h"
#include "server/wire/queue.h"
#include "storage/store.h"

namespace tenure::rpc {

class Peers {
 public:
  // How this replica introduces itself to those that it follows.
  struct Introduction {
    std::string address;
    SharedSettings settings;
  };
  // Receives how far another replica has committed. Must not block. Thread-safe.
  using Heard = std::function<void(const PartitionOffsets&)>;

  Peers(engine::Scheduler& scheduler, Metrics& metrics, wire::Queue& queue,
        std::shared_ptr<grpc::ChannelCredentials> credentials,
        std::function<std::string()> service_id, Introduction self, Heard heard);
  // Waits for the ends of all streams. REQUIRES: the scheduler was stopped; the queue runs.
  ~Peers();

  // Follows these from now on, and no others. Thread-safe.
  void Follow(const std::vector<Peer>& peers);

 private:
  class Stream;

  void Open(const Peer& peer) TENURE_REQUIRES(mutex_);
  void OnMessage(Stream& stream, const PartitionOffsets& committed);
  void OnEnd(Stream& stream, const grpc::Status& status);
  // Logs once that a peer cannot be followed. Returns how long to wait before the next try.
  std::chrono::milliseconds Failed(const Peer& peer, const grpc::Status& status)
      TENURE_REQUIRES(mutex_);
  void Succeeded(const Peer& peer) TENURE_REQUIRES(mutex_);
  void OpenAgain(const std::string& id);
  void CountStreams() TENURE_REQUIRES(mutex_);

  engine::Scheduler& scheduler_;
  Metrics& metrics_;
  wire::Queue& queue_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::function<std::string()> service_id_;  // of this replica
  const Introduction self_;
  const Heard heard_;

  Mutex mutex_;
  ConditionVariable ended_;
  std::map<std::string, Peer> wanted_ TENURE_GUARDED_BY(mutex_);  // by id
  // At most one for each of them. Streams of other peers are about to end.
  std::map<std::string, std::unique_ptr<Stream>> streams_ TENURE_GUARDED_BY(mutex_);
  // Consecutive failures of wanted peers, by id.
  std::map<std::string, int> failures_ TENURE_GUARDED_BY(mutex_);
  // Ended streams are destroyed elsewhere: the queue's thread must not release what may be its last
  // channel.
  std::vector<std::unique_ptr<Stream>> finished_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::rpc
