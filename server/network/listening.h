// Listening sockets, and the connections that they accept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "server/network/descriptor.h"

namespace tenure::network {

struct Address {
  std::string host;  // a name or a number, without brackets
  int port;
};
// Parses "host:port", such as "127.0.0.1:7070" or "[::1]:7070". The error is one sentence for the
// operator.
[[nodiscard]] tl::expected<Address, std::string> ParseAddress(const std::string& text);

// Adds the brackets that IPv6 needs: a pod that is given its own address writes "fd00::1:7070".
[[nodiscard]] std::string WithBrackets(const std::string& address);
// Whether the host means all addresses of this machine: 0.0.0.0, [::] or nothing.
[[nodiscard]] bool IsAllAddresses(const std::string& host);
// Whether only this machine can reach the host: "localhost", 127.0.0.0/8 or ::1.
[[nodiscard]] bool IsLoopback(const std::string& host);

// Listens on every address that the host stands for; 0.0.0.0 and [::] stand for all addresses of
// both families. The sockets do not block. The error, one sentence for the operator, names the
// `protocol`.
[[nodiscard]] tl::expected<std::vector<Descriptor>, std::string> Listen(
    const std::string& address, const std::string& protocol);

// One end of a connection.
struct End {
  std::array<uint8_t, 16> address{};  // IPv6; IPv4 addresses are mapped
  uint16_t port = 0;

  bool operator==(const End&) const = default;
};

struct Accepted {
  Descriptor connection;  // does not block
  End peer;
};
enum class AcceptFailure {
  kNobody,         // nobody is waiting
  kNoDescriptors,  // this process, or the machine, has no more
};
[[nodiscard]] tl::expected<Accepted, AcceptFailure> Accept(const Descriptor& listener);

// A socket bound to the listener's own IP address (loopback if it listens on all) and a free port,
// and both as an end. Used to connect the listener to itself. Empty if binding fails.
struct Bound {
  Descriptor socket;
  End end;
};
[[nodiscard]] std::optional<Bound> BindBeside(const Descriptor& listener);
// Starts to connect the socket to the listener. False if it cannot.
[[nodiscard]] bool ConnectTo(const Descriptor& listener, const Descriptor& socket);

// Raises this process's limit on descriptors as far as allowed, and returns it.
size_t RaiseDescriptorLimit();

}  // namespace tenure::network
