// The socket that a service manager hears its services on, as in sd_notify(3).
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

class NotifySocket {
 public:
  // At this address, or at a path of its own. "@name" is an abstract address.
  explicit NotifySocket(std::string address = {})
      : address_(address.empty() ? (folder_.path() / "notify").string() : std::move(address)),
        socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
    address_.copy(name.sun_path, sizeof name.sun_path);
    if (name.sun_path[0] == '@') name.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    if (bind(socket_, reinterpret_cast<sockaddr*>(&name), size) != 0) {
      ADD_FAILURE() << "cannot listen on " << address_ << ": " << std::strerror(errno);
    }
  }
  ~NotifySocket() { close(socket_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  // Everything received so far.
  const std::vector<std::string>& Messages() {
    char buffer[4096];
    for (ssize_t size; (size = recv(socket_, buffer, sizeof buffer, 0)) >= 0;) {
      messages_.emplace_back(buffer, static_cast<size_t>(size));
    }
    return messages_;
  }

 private:
  TempDir folder_;
  const std::string address_;
  const int socket_;
  std::vector<std::string> messages_;
};

}  // namespace tenure::testing
