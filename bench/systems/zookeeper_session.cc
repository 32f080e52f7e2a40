#include "bench/systems/zookeeper_session.h"

#include <stdexcept>
#include <utility>

namespace tenure::bench {
namespace {

constexpr auto kConnectPatience = std::chrono::seconds(30);

}  // namespace

void Require(int result, const std::string& call) {
  if (result != ZOK) throw std::runtime_error(call + ": " + zerror(result));
}

ZooKeeperSession::ZooKeeperSession(const std::string& endpoint, std::chrono::milliseconds timeout,
                                   std::function<void()> lost)
    : lost_(std::move(lost)) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = zookeeper_init(endpoint.c_str(), &OnEvent, static_cast<int>(timeout.count()), nullptr,
                           this, 0);
  if (handle_ == nullptr) throw std::runtime_error("zookeeper_init failed");
  if (first_connected_.get_future().wait_for(kConnectPatience) != std::future_status::ready) {
    zookeeper_close(handle_);
    throw std::runtime_error("ZooKeeper does not take a connection");
  }
}

ZooKeeperSession::~ZooKeeperSession() {
  closing_ = true;
  zookeeper_close(handle_);
}

void ZooKeeperSession::OnEvent(zhandle_t* /*handle*/, int type, int state, const char* /*path*/,
                               void* session) {
  if (type != ZOO_SESSION_EVENT) return;
  auto& self = *static_cast<ZooKeeperSession*>(session);
  if (state == ZOO_CONNECTED_STATE && !self.connected_.exchange(true)) {
    self.first_connected_.set_value();
  }
  if (state == ZOO_EXPIRED_SESSION_STATE) self.lost_();
}

void ZooKeeperSession::EnsureNode(const std::string& path) {
  const int result = zoo_create(handle_, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
  if (result != ZNODEEXISTS) Require(result, "create");
}

std::vector<std::string> ZooKeeperSession::Children(const std::string& path) {
  String_vector strings{};
  Require(zoo_get_children(handle_, path.c_str(), 0, &strings), "getChildren");
  std::vector<std::string> names = ToNames(strings);
  deallocate_String_vector(&strings);
  return names;
}

std::vector<std::string> ToNames(const String_vector& strings) {
  return {strings.data, strings.data + strings.count};
}

}  // namespace tenure::bench
