#include "bench/zookeeper_session.h"

#include <stdexcept>

namespace tenure::bench {

void Require(int result, const std::string& call) {
  if (result != ZOK) throw std::runtime_error(call + ": " + zerror(result));
}

ZooKeeperSession::ZooKeeperSession(const std::string& endpoint, std::chrono::milliseconds timeout) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = zookeeper_init(endpoint.c_str(), &OnEvent, static_cast<int>(timeout.count()), nullptr,
                           this, 0);
  if (handle_ == nullptr) throw std::runtime_error("zookeeper_init failed");
  connected_.wait(false);
}

ZooKeeperSession::~ZooKeeperSession() {
  closing_ = true;
  zookeeper_close(handle_);
}

void ZooKeeperSession::OnEvent(zhandle_t* /*handle*/, int type, int state, const char* /*path*/,
                               void* session) {
  if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE) return;
  auto& connected = static_cast<ZooKeeperSession*>(session)->connected_;
  connected = true;
  connected.notify_all();
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
