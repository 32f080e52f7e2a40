// Observes elections, from one replica to the next, without a gap.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/connection.h"

namespace tenure {

class Follower {
 public:
  struct Wish {
    std::vector<std::string> names;  // of elections, or their prefixes
    bool prefix = false;
    std::optional<uint64_t> from_revision = {};
  };
  // Called on the thread that runs.
  struct Listener {
    std::function<void(const v1::ObserveResponse&)> told;
    // A stream broke, or could not be opened, and will be tried again.
    std::function<void(const grpc::Status&)> broken = [](const grpc::Status&) {};
  };

  // Starts no thread.
  Follower(std::string endpoints, Wish wish, Listener listener)
      : endpoints_(std::move(endpoints)), wish_(std::move(wish)), listener_(std::move(listener)) {}

  // Until it is stopped (OK), or an error does not pass by itself.
  [[nodiscard]] grpc::Status Run();
  // From any thread, before or while it runs.
  void Stop();

 private:
  [[nodiscard]] bool Stopped();
  [[nodiscard]] grpc::Status FollowOneStream(Connection& connection);
  [[nodiscard]] v1::ObserveRequest Request() const;
  void Note(const v1::ObserveResponse& response);

  const std::string endpoints_;
  const Wish wish_;
  const Listener listener_;

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;                    // guarded by mutex_
  grpc::ClientContext* context_ = nullptr;  // guarded by mutex_; of the open stream

  // Of the thread that runs.
  std::map<std::string, uint64_t> seen_;  // the last revision of each election
  bool opened_ = false;                   // everything there is has been told once
};

}  // namespace tenure
