// Plain sockets of 127.0.0.0/8, for what stands between a client and its server in a test.
#pragma once

#include <string>
#include <string_view>

namespace tenure::testing::loopback {

// A socket that listens on a port of its own.
[[nodiscard]] int Listen();
// One that does not listen yet: connections to it are refused until listen(2). Port 0: one of its
// own. Throws std::system_error.
[[nodiscard]] int Bind(const std::string& host, int port);
[[nodiscard]] int PortOf(int listener);
// The next connection to it, which no child of this process inherits; negative at its end.
[[nodiscard]] int Accept(int listener);
// A connection that is refused is at its end at once.
[[nodiscard]] int ConnectTo(int port);
// Waits for bytes. Empty at the end of the connection.
[[nodiscard]] std::string Receive(int connection);
void SendAll(int connection, std::string_view bytes);

}  // namespace tenure::testing::loopback
