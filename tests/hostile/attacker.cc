#include "tests/hostile/attacker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "tests/support/process.h"

namespace tenure::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSendPatience = 1s;
constexpr char kLeaderPath[] = "/tenure.v1.ElectionService/Leader";

// Runs `attack` on this number of threads at once, until the time is over. Sums their answers.
size_t AllAtOnce(int threads, std::chrono::milliseconds duration,
                 const std::function<size_t(const std::function<bool()>& go_on)>& attack) {
  const auto end = Clock::now() + duration;
  std::atomic<size_t> sum = 0;
  std::vector<std::thread> attackers;
  for (int i = 0; i < threads; ++i) {
    attackers.emplace_back([&] { sum += attack([&] { return Clock::now() < end; }); });
  }
  for (std::thread& attacker : attackers) attacker.join();
  return sum;
}

// Throws away what has come, so that the other side need not wait.
void Discard(const Descriptor& connection) {
  char buffer[65'536];
  while (recv(connection.number(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) continue;
}

}  // namespace

Descriptor ConnectTo(const std::string& endpoint) {
  const size_t colon = endpoint.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(endpoint.substr(colon + 1))));
  inet_pton(AF_INET, endpoint.substr(0, colon).c_str(), &address.sin_addr);
  Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (!connection.valid() || connect(connection.number(), to, sizeof address) != 0) return {};
  const timeval patience{std::chrono::seconds(kSendPatience).count(), 0};
  setsockopt(connection.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return connection;
}

std::vector<Descriptor> ConnectMany(const std::string& endpoint, int count) {
  std::vector<Descriptor> connections;
  for (int i = 0; i < count; ++i) {
    Descriptor connection = ConnectTo(endpoint);
    if (connection.valid()) connections.push_back(std::move(connection));
  }
  return connections;
}

bool Send(const Descriptor& connection, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t size =
        send(connection.number(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) return false;
    sent += static_cast<size_t>(size);
  }
  return true;
}

std::string ReceiveUntil(const Descriptor& connection, const std::string& text) {
  const auto end = Clock::now() + kPatience;
  std::string received;
  char buffer[65'536];
  while (received.find(text) == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waits{connection.number(), POLLIN, 0};
    if (left <= 0 || poll(&waits, 1, static_cast<int>(left)) != 1) break;
    const ssize_t size = recv(connection.number(), buffer, sizeof buffer, 0);
    if (size <= 0) break;
    received.append(buffer, static_cast<size_t>(size));
  }
  return received;
}

namespace http2 {

std::string Frame(Type type, char flags, uint32_t stream, const std::string& payload) {
  const auto byte = [](uint64_t number, int shift) { return static_cast<char>(number >> shift); };
  std::string frame = {byte(payload.size(), 16),
                       byte(payload.size(), 8),
                       byte(payload.size(), 0),
                       static_cast<char>(type),
                       flags,
                       byte(stream, 24),
                       byte(stream, 16),
                       byte(stream, 8),
                       byte(stream, 0)};
  return frame + payload;
}

std::string Greeting() {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(Type::kSettings, 0, 0, "");
}

std::string Literal(const std::string& name, const std::string& value) {
  const auto text = [](const std::string& it) {
    return std::string(1, static_cast<char>(it.size())) + it;  // shorter than 127 bytes
  };
  return std::string(1, '\0') + text(name) + text(value);
}

std::string CallHeaders(const std::string& path, const std::string& more) {
  return Literal(":method", "POST") + Literal(":scheme", "http") + Literal(":path", path) +
         Literal(":authority", "localhost") + Literal("te", "trailers") +
         Literal("content-type", "application/grpc") + more;
}

}  // namespace http2

size_t ResetRapidly(const std::string& endpoint, int connections,
                    std::chrono::milliseconds duration) {
  constexpr int kCallsPerWrite = 500;
  const std::string headers = http2::CallHeaders(kLeaderPath);
  const std::string cancelled{0, 0, 0, 8};
  return AllAtOnce(connections, duration, [&](const std::function<bool()>& go_on) {
    size_t calls = 0;
    while (go_on()) {
      const Descriptor connection = ConnectTo(endpoint);
      if (!connection.valid() || !Send(connection, http2::Greeting())) continue;
      for (uint32_t stream = 1; go_on();) {
        std::string bytes;
        for (int i = 0; i < kCallsPerWrite; ++i, stream += 2) {
          bytes += http2::Frame(http2::Type::kHeaders, http2::kEndHeaders, stream, headers);
          bytes += http2::Frame(http2::Type::kReset, 0, stream, cancelled);
        }
        if (!Send(connection, bytes)) break;
        calls += kCallsPerWrite;
        Discard(connection);
      }
    }
    return calls;
  });
}

size_t Flood(const std::string& endpoint, int connections, const std::string& first,
             const std::string& again, std::chrono::milliseconds duration) {
  return AllAtOnce(connections, duration, [&](const std::function<bool()>& go_on) {
    size_t taken = 0;
    while (go_on()) {
      const Descriptor connection = ConnectTo(endpoint);
      if (!connection.valid() || !Send(connection, first)) continue;
      while (go_on() && Send(connection, again)) taken += again.size();
    }
    return taken;
  });
}

}  // namespace tenure::testing
