#include "tests/hostile/attacker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <thread>

#include "tests/support/process.h"

namespace tenure::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSendPatience = 1s;
constexpr char kLeaderPath[] = "/tenure.v1.ElectionService/Leader";

// Runs `attack` on this number of threads for this time. Returns the sum of their results.
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

sockaddr_in V4(const std::string& address, int port) {
  sockaddr_in end{};
  end.sin_family = AF_INET;
  end.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &end.sin_addr);
  return end;
}

// Throws away what has come, so that the other side need not wait.
void Discard(const Descriptor& connection) {
  char buffer[65'536];
  while (recv(connection.number(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) continue;
}

}  // namespace

Descriptor ConnectTo(const std::string& endpoint, const std::string& from) {
  const size_t colon = endpoint.rfind(':');
  const sockaddr_in source = V4(from, 0);
  const sockaddr_in target = V4(endpoint.substr(0, colon), std::stoi(endpoint.substr(colon + 1)));
  Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto of = [](const sockaddr_in& it) { return reinterpret_cast<const sockaddr*>(&it); };
  if (!connection.valid() || bind(connection.number(), of(source), sizeof source) != 0 ||
      connect(connection.number(), of(target), sizeof target) != 0) {
    return {};
  }
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

namespace {

uint32_t Number(std::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

// What the other side allows to send, by its frames so far.
class Windows {
 public:
  explicit Windows(const Descriptor& connection) : connection_(connection) {}

  // False when the other side has gone.
  bool Read() {
    char buffer[65'536];
    const ssize_t size = recv(connection_.number(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size == 0) return false;
    if (size > 0) received_.append(buffer, static_cast<size_t>(size));
    constexpr size_t kHeader = 9;
    while (received_.size() >= kHeader) {
      const std::string_view frame = received_;
      const size_t length = Number(frame.substr(0, 3));
      if (frame.size() < kHeader + length) break;
      Apply(static_cast<http2::Type>(frame[3]), frame[4], Number(frame.substr(5, 4)),
            frame.substr(kHeader, length));
      received_.erase(0, kHeader + length);
    }
    return true;
  }
  // Whether the other side has said how large they are.
  [[nodiscard]] bool known() const { return known_; }
  // How much may be sent on this stream, at most `most`; it is then used up.
  size_t Take(uint32_t stream, size_t most) {
    if (ended_.contains(stream)) return 0;
    int64_t& used = used_[stream];
    const int64_t left = std::min(all_, initial_ + streams_[stream] - used);
    const int64_t size = std::clamp<int64_t>(left, 0, static_cast<int64_t>(most));
    used += size;
    all_ -= size;
    return static_cast<size_t>(size);
  }

 private:
  void Apply(http2::Type type, char flags, uint32_t stream, std::string_view payload) {
    if (type == http2::Type::kReset) ended_.insert(stream);
    if (type == http2::Type::kHeaders && (flags & http2::kEndStream) != 0) ended_.insert(stream);
    if (type == http2::Type::kWindowUpdate)
      (stream == 0 ? all_ : streams_[stream]) += Number(payload);
    if (type != http2::Type::kSettings) return;
    known_ = true;
    constexpr uint32_t kInitialWindowSize = 4;
    for (; payload.size() >= 6; payload.remove_prefix(6)) {
      if (Number(payload.substr(0, 2)) == kInitialWindowSize)
        initial_ = Number(payload.substr(2, 4));
    }
  }

  const Descriptor& connection_;
  std::string received_;
  bool known_ = false;
  int64_t all_ = 65'535, initial_ = 65'535;
  std::map<uint32_t, int64_t> streams_, used_;  // what was added to each, and what was taken
  std::set<uint32_t> ended_;
};

// Sends on one connection, until it is closed.
size_t SendWithoutEnd(const Descriptor& connection, int messages, uint32_t size,
                      const std::function<bool()>& go_on) {
  if (!Send(connection, http2::Greeting())) return 0;
  Windows windows(connection);
  while (!windows.known()) {
    pollfd settings{connection.number(), POLLIN, 0};
    if (poll(&settings, 1, 1'000) != 1 || !windows.Read()) return 0;
  }
  std::string prefix(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) prefix += static_cast<char>(size >> shift);
  std::map<uint32_t, size_t> left;  // of each stream's message
  for (uint32_t stream = 1; left.size() < static_cast<size_t>(messages); stream += 2) {
    if (windows.Take(stream, prefix.size()) != prefix.size()) break;
    Send(connection, http2::Frame(http2::Type::kHeaders, http2::kEndHeaders, stream,
                                  http2::CallHeaders(kLeaderPath)) +
                         http2::Frame(http2::Type::kData, 0, stream, prefix));
    left[stream] = size - 1;
  }
  size_t sent = 0;
  while (go_on() && windows.Read()) {
    for (auto& [stream, bytes] : left) {
      const size_t part = windows.Take(stream, std::min<size_t>(bytes, 16'000));
      if (part == 0) continue;
      const std::string filler(part, 'x');
      if (!Send(connection, http2::Frame(http2::Type::kData, 0, stream, filler))) return sent;
      bytes -= part;
      sent += part;
    }
  }
  return sent;
}

}  // namespace

size_t SendWithoutEnd(const std::string& endpoint, int connections, int messages, uint32_t size,
                      std::chrono::milliseconds duration) {
  return AllAtOnce(connections, duration, [&](const std::function<bool()>& go_on) {
    size_t sent = 0;
    while (go_on()) sent += SendWithoutEnd(ConnectTo(endpoint), messages, size, go_on);
    return sent;
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
