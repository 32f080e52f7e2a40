#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tenure::testing::loopback {
namespace {

constexpr auto kLocalhost = "127.0.0.1";

sockaddr_in AddressOf(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
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
  const int listener = Bind(kLocalhost, 0);
  listen(listener, SOMAXCONN);
  return listener;
}

int Bind(const std::string& host, int port) {
  const int listener = Socket();
  const sockaddr_in address = AddressOf(host, port);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close(listener);
    throw std::system_error(error, std::generic_category(), host + ":" + std::to_string(port));
  }
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
  const sockaddr_in address = AddressOf(kLocalhost, port);
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
