// Clients on raw sockets, for the tests of this room.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "server/network/listening.h"

namespace tenure::network {

// The port of a listener that was given port 0.
inline int PortOf(const Descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// A connection to a port of 127.0.0.1; invalid if it is refused.
inline Descriptor ConnectToPort(int port) {
  Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int refused = 0;
  do {  // continues after a signal, such as libFuzzer's timer
    refused = connect(client.number(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  } while (refused != 0 && errno == EINTR);
  return refused == 0 ? std::move(client) : Descriptor();
}

inline void SendAll(const Descriptor& client, const std::string& text) {
  send(client.number(), text.data(), text.size(), MSG_NOSIGNAL);
}

// Everything until the connection ends, in whatever way.
inline std::string ReadToEnd(const Descriptor& client) {
  std::string all;
  char buffer[65'536];
  ssize_t size = 0;
  while ((size = recv(client.number(), buffer, sizeof buffer, 0)) != 0) {
    if (size < 0 && errno != EINTR) break;
    if (size > 0) all.append(buffer, static_cast<size_t>(size));
  }
  return all;
}

}  // namespace tenure::network
