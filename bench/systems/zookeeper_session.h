// One session with ZooKeeper: wraps the C client's handle, with results as values or exceptions.
#pragma once

#include <zookeeper/zookeeper.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

namespace tenure::bench {

// Throws std::runtime_error if a call failed.
void Require(int result, const std::string& call);

class ZooKeeperSession {
 public:
  // Returns when it is connected. `lost` is called if the session ends by itself, on a thread of
  // the client.
  ZooKeeperSession(
      const std::string& endpoint, std::chrono::milliseconds timeout,
      std::function<void()> lost = [] {});
  ~ZooKeeperSession();  // ends the session
  ZooKeeperSession(const ZooKeeperSession&) = delete;
  ZooKeeperSession& operator=(const ZooKeeperSession&) = delete;

  [[nodiscard]] zhandle_t* handle() { return handle_; }
  [[nodiscard]] bool closing() const { return closing_; }

  // Creates a persistent node unless it exists.
  void EnsureNode(const std::string& path);
  [[nodiscard]] std::vector<std::string> Children(const std::string& path);

 private:
  static void OnEvent(zhandle_t* handle, int type, int state, const char* path, void* session);

  std::atomic<bool> closing_ = false;
  std::atomic<bool> connected_ = false;
  std::promise<void> first_connected_;
  const std::function<void()> lost_;
  zhandle_t* handle_;
};

// The names in a reply. Does not free them.
[[nodiscard]] std::vector<std::string> ToNames(const String_vector& strings);

}  // namespace tenure::bench
