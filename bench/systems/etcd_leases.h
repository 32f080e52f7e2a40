// Keeps the leases of waiting candidates alive; etcd's election service leaves this to its clients.
//
// Like etcd's own client, it renews all leases on one stream, each every third of its duration. No
// thread blocks in a gRPC call, where it would poll beside the generator's queue. Thread-safe.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>

#include "bench/systems/grpc_client.h"
#include "bench/systems/system.h"
#include "proto/etcd.grpc.pb.h"

namespace tenure::bench {

class EtcdLeases {
 public:
  explicit EtcdLeases(const std::shared_ptr<grpc::Channel>& channel);
  ~EtcdLeases();
  EtcdLeases(const EtcdLeases&) = delete;
  EtcdLeases& operator=(const EtcdLeases&) = delete;

  void Keep(int64_t lease, Clock::duration ttl);
  void Drop(int64_t lease);

 private:
  struct Kept {
    Clock::duration ttl;
    Clock::time_point next;
  };

  void Renew();

  const std::unique_ptr<etcdserverpb::Lease::Stub> stub_;
  std::binary_semaphore answered_{0};
  Conversation<etcdserverpb::LeaseKeepAliveRequest, etcdserverpb::LeaseKeepAliveResponse> stream_;
  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool stopping_ = false;         // guarded by mutex_
  std::map<int64_t, Kept> kept_;  // guarded by mutex_
  std::thread renewing_;
};

}  // namespace tenure::bench
