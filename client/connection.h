// Which replica to talk to, and what to make of its errors.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/lease.h"
#include "tenure/v1/election.grpc.pb.h"

namespace tenure {

// The replicas of one service, one of them in use. Any will do; whoever meets a broken one moves
// on. Not thread-safe.
class Connection {
 public:
  // "host:port[,host:port...]". Nothing is connected to yet.
  explicit Connection(const std::string& endpoints);

  // A stub for the replica in use.
  [[nodiscard]] std::shared_ptr<v1::ElectionService::Stub> stub() {
    return replicas_[in_use_].stub;
  }
  // Waits a bounded time for the replica in use to take connections. Calls that block the thread
  // need this first: between their tries nothing else drives the connection.
  [[nodiscard]] bool Connect();
  // Uses the next replica from now on.
  void MoveOn();
  // How long to wait before the next try: longer with each one in a row, with jitter.
  [[nodiscard]] std::chrono::milliseconds Backoff();
  // A try went well.
  void Succeeded() { failures_ = 0; }

 private:
  struct Replica {
    std::shared_ptr<grpc::Channel> channel;
    std::shared_ptr<v1::ElectionService::Stub> stub;
  };

  std::vector<Replica> replicas_;
  size_t in_use_ = 0;
  int failures_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

// What a call would end with if it were made without a connection.
[[nodiscard]] inline grpc::Status Unreachable() {
  return {grpc::StatusCode::UNAVAILABLE, "no replica of the service can be reached"};
}
// The ErrorInfo reason of a status; empty if it has none.
[[nodiscard]] std::string ReasonOf(const grpc::Status& status);
// Whether the same request may go well later or elsewhere.
[[nodiscard]] bool IsTransient(const grpc::Status& status);
// Whether the session that was used is over or unknown.
[[nodiscard]] bool IsSessionGone(const grpc::Status& status);

}  // namespace tenure
