#include "server/network/listening.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace tenure::network {
namespace {

constexpr int kBacklog = 4'096;  // the kernel may allow fewer
// Longer than a peer that is alive takes to acknowledge anything.
constexpr int kUnacknowledgedMaxMs = 20'000;

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Found Resolve(const Address& address) {
  const bool all = IsAllAddresses(address.host);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (getaddrinfo(all ? nullptr : address.host.c_str(), port.c_str(), &hints, &found) != 0) {
    found = nullptr;
  }
  return {found, &freeaddrinfo};
}

void Set(const Descriptor& socket, int level, int name, int value) {
  setsockopt(socket.number(), level, name, &value, sizeof value);
}

Descriptor ListenOn(const addrinfo& address) {
  Descriptor listener(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return {};
  // Accepted sockets inherit these. No SO_REUSEPORT: two servers on one port would silently share
  // its connections.
  Set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(listener, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMaxMs);
  // Each family has a socket of its own.
  if (address.ai_family == AF_INET6) Set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (bind(listener.number(), address.ai_addr, address.ai_addrlen) != 0) return {};
  if (listen(listener.number(), kBacklog) != 0) return {};
  return listener;
}

End EndOf(const sockaddr_storage& address) {
  End end;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    end.address[10] = end.address[11] = 0xff;
    std::memcpy(&end.address[12], &v4.sin_addr, sizeof v4.sin_addr);
    end.port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(end.address.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    end.port = ntohs(v6.sin6_port);
  }
  return end;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// Where to reach a listener from here.
std::optional<SocketAddress> Reach(const Descriptor& listener) {
  SocketAddress address;
  if (getsockname(listener.number(), address.get(), &address.size) != 0) return std::nullopt;
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (address.storage.ss_family == AF_INET && v4.sin_addr.s_addr == htonl(INADDR_ANY)) {
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else if (address.storage.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr)) {
    v6.sin6_addr = in6addr_loopback;
  }
  return address;
}

}  // namespace

tl::expected<Address, std::string> ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ptr != end) port = -1;
  }
  std::string host = text.substr(0, colon);
  if (port < 0 || port > 65535 || host.find('/') != std::string::npos) {
    return tl::unexpected("'" + text + "' is not an address; write HOST:PORT");
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Address{std::move(host), port};
}

std::string WithBrackets(const std::string& address) {
  const size_t port = address.rfind(':');
  const bool bare = address.find(':') < port && address.find('[') == address.npos;
  return bare ? "[" + address.substr(0, port) + "]" + address.substr(port) : address;
}

bool IsAllAddresses(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return v4.s_addr == htonl(INADDR_ANY);
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_UNSPECIFIED(&v6) != 0;
  return host.empty();
}

bool IsLoopback(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  return host == "localhost";
}

tl::expected<std::vector<Descriptor>, std::string> Listen(const std::string& address,
                                                          const std::string& protocol) {
  const auto parsed = ParseAddress(address);
  if (!parsed) return tl::unexpected(parsed.error());
  std::vector<Descriptor> listeners;
  int error = 0;
  const Found found = Resolve(*parsed);
  for (const addrinfo* it = found.get(); it != nullptr; it = it->ai_next) {
    Descriptor listener = ListenOn(*it);
    if (listener.valid()) {
      listeners.push_back(std::move(listener));
    } else if (error != EADDRINUSE) {
      error = errno;
    }
  }
  if (!listeners.empty() && error != EADDRINUSE) return listeners;
  return tl::unexpected("cannot listen on " + address + " (" + protocol + "): " +
                        (found == nullptr         ? "there is no such host"
                         : error == EADDRINUSE    ? "the port is in use"
                         : error == EADDRNOTAVAIL ? "it is no address of this machine"
                                                  : std::strerror(error)));
}

tl::expected<Accepted, AcceptFailure> Accept(const Descriptor& listener) {
  while (true) {
    SocketAddress peer;
    Descriptor connection(
        accept4(listener.number(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.valid()) return Accepted{std::move(connection), EndOf(peer.storage)};
    switch (errno) {
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM: return tl::unexpected(AcceptFailure::kNoDescriptors);
      // Errors of one connection, which is gone: accept(2).
      case EINTR:
      case ECONNABORTED:
      case EPERM:
      case EPROTO:
      case ENETDOWN:
      case ENETUNREACH:
      case EHOSTDOWN:
      case EHOSTUNREACH:
      case ENOPROTOOPT:
      case ENONET: continue;
      default: return tl::unexpected(AcceptFailure::kNobody);
    }
  }
}

std::optional<Bound> BindBeside(const Descriptor& listener) {
  auto address = Reach(listener);
  if (!address) return std::nullopt;
  Descriptor bound(
      socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // sin6_port is at the same offset.
  reinterpret_cast<sockaddr_in&>(address->storage).sin_port = 0;
  if (!bound.valid() || bind(bound.number(), address->get(), address->size) != 0 ||
      getsockname(bound.number(), address->get(), &address->size) != 0) {
    return std::nullopt;
  }
  return Bound{std::move(bound), EndOf(address->storage)};
}

bool ConnectTo(const Descriptor& listener, const Descriptor& socket) {
  auto address = Reach(listener);
  return address &&
         (connect(socket.number(), address->get(), address->size) == 0 || errno == EINPROGRESS);
}

size_t RaiseDescriptorLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace tenure::network
