#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

namespace tenure::testing::loopback {
namespace {

sockaddr_in AddressOf(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// Its bytes do not wait for more to send with them. A listener's connections are the same.
int Socket() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

}  // namespace

int Listen() {
  const int listener = Socket();
  const sockaddr_in address = AddressOf(0);
  bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  listen(listener, SOMAXCONN);
  return listener;
}

int PortOf(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

int Accept(int listener) { return accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); }

int ConnectTo(int port) {
  const int connection = Socket();
  const sockaddr_in address = AddressOf(port);
  (void)connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return connection;
}

std::string Receive(int connection) {
  std::string bytes(16'384, '\0');
  const ssize_t size = recv(connection, bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return bytes;
}

void SendAll(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace tenure::testing::loopback
