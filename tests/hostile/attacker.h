// What an attacker does, on bare sockets: each attack in a bounded time, with a bounded number of
// connections.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "server/network/descriptor.h"

namespace tenure::testing {

using namespace std::chrono_literals;
using network::Descriptor;

// The attackers' address. Healthy clients have another one.
inline constexpr char kAttackersAddress[] = "127.0.0.2";

// A connection to "host:port", blocking; invalid if it is refused.
[[nodiscard]] Descriptor ConnectTo(const std::string& endpoint,
                                   const std::string& from = kAttackersAddress);
// As many of `count` as are accepted.
[[nodiscard]] std::vector<Descriptor> ConnectMany(const std::string& endpoint, int count);

// Sends all of it. False if the other side has gone, or takes nothing for some time.
bool Send(const Descriptor& connection, const std::string& bytes);
// Receives until the bytes contain `text`, the connection ends, or kPatience has passed.
[[nodiscard]] std::string ReceiveUntil(const Descriptor& connection, const std::string& text);

// HTTP/2 as a client writes it (RFC 9113).
namespace http2 {

enum class Type : char {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kWindowUpdate = 8,
  kContinuation = 9
};
inline constexpr char kEndStream = 1;
inline constexpr char kEndHeaders = 4;

[[nodiscard]] std::string Frame(Type type, char flags, uint32_t stream, const std::string& payload);
// The preface, and empty settings.
[[nodiscard]] std::string Greeting();
// The headers of a call, as a block of literals; `more` are added as they are.
[[nodiscard]] std::string CallHeaders(const std::string& path, const std::string& more = "");
// One header, as a literal that is not remembered.
[[nodiscard]] std::string Literal(const std::string& name, const std::string& value);

}  // namespace http2

// Opens calls and resets each at once, on this number of connections (CVE-2023-44487). Returns the
// number of calls. A connection that is cut off is opened again.
size_t ResetRapidly(const std::string& endpoint, int connections,
                    std::chrono::milliseconds duration);
// Sends messages that claim to have this size, as far as the other side's windows allow, but never
// the end of one. `messages` is for each connection. Returns the number of bytes.
size_t SendWithoutEnd(const std::string& endpoint, int connections, int messages, uint32_t size,
                      std::chrono::milliseconds duration);
// Sends `first`, and then `again` over and over, on this number of connections. Returns the number
// of bytes that were taken.
size_t Flood(const std::string& endpoint, int connections, const std::string& first,
             const std::string& again, std::chrono::milliseconds duration);

}  // namespace tenure::testing
