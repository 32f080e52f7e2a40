#include "tests/support/relay.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "tests/support/loopback.h"
#include "tests/support/process.h"

namespace tenure::testing {
namespace {

// HTTP/2: a frame is a header, which begins with a length, and that number of bytes.
constexpr size_t kHeaderBytes = 9;
constexpr size_t kTypeAt = 3;
constexpr size_t kFlagsAt = 4;
constexpr size_t kStreamAt = 5;
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kEndStream = 1;

uint8_t ByteAt(const std::string& bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

bool OfACall(const std::string& frame) {
  return frame.substr(kStreamAt, 4) != std::string(4, '\0');  // stream 0 is the connection's own
}

bool EndsAnAnswer(const std::string& frame) {
  const uint8_t type = ByteAt(frame, kTypeAt);
  return (type == kData || type == kHeaders) && (ByteAt(frame, kFlagsAt) & kEndStream) != 0;
}

// Takes the first frame out of `bytes`, if it is complete.
std::optional<std::string> TakeFrame(std::string& bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const size_t payload = static_cast<size_t>(ByteAt(bytes, 0)) << 16 |
                         static_cast<size_t>(ByteAt(bytes, 1)) << 8 | ByteAt(bytes, 2);
  if (bytes.size() < kHeaderBytes + payload) return std::nullopt;
  std::string frame = bytes.substr(0, kHeaderBytes + payload);
  bytes.erase(0, frame.size());
  return frame;
}

int PortIn(const std::string& endpoint) {
  return std::stoi(endpoint.substr(endpoint.find(':') + 1));
}

}  // namespace

// One connection of a client, and the one to the server that belongs to it.
class Relay::Wire {
 public:
  Wire(Relay& relay, int client, int server)
      : client_(client),
        server_(server),
        requests_([this] { PassRequests(); }),
        answers_([this, &relay] { PassAnswers(relay); }) {}

  // Waits until the server has closed its end, too.
  ~Wire() {
    Break();
    requests_.join();
    answers_.join();
    close(client_);
    close(server_);
  }

  void Silence() { silent_ = true; }
  void Break() const {
    shutdown(client_, SHUT_RDWR);
    shutdown(server_, SHUT_WR);
  }

 private:
  void PassRequests() const {
    for (std::string bytes; !(bytes = loopback::Receive(client_)).empty();)
      loopback::SendAll(server_, bytes);
    Break();
  }

  void PassAnswers(Relay& relay) const {
    std::string pending;
    for (std::string bytes; !(bytes = loopback::Receive(server_)).empty();) {
      std::this_thread::sleep_for(relay.delay_);
      pending += bytes;
      while (const auto frame = TakeFrame(pending)) {
        if (silent_ && OfACall(*frame)) continue;
        if (relay.Passes(*frame)) loopback::SendAll(client_, *frame);
      }
    }
    Break();
  }

  const int client_;
  const int server_;
  std::atomic<bool> silent_ = false;
  std::thread requests_;
  std::thread answers_;
};

Relay::Relay(const std::string& server, std::chrono::milliseconds delay)
    : listener_(loopback::Listen()),
      delay_(delay),
      server_(server),
      accepting_([this] { Accept(); }) {}

Relay::~Relay() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  wires_.clear();
  close(listener_);
}

std::string Relay::endpoint() const {
  return "127.0.0.1:" + std::to_string(loopback::PortOf(listener_));
}

void Relay::LoseAnswers() {
  const std::lock_guard lock(mutex_);
  losing_ = true;
  lost_an_answer_ = false;
}

void Relay::LoseTheNextEnd() {
  const std::lock_guard lock(mutex_);
  losing_from_an_end_ = true;
  lost_an_answer_ = false;
}

void Relay::WaitUntilAnAnswerIsLost() {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return lost_an_answer_; }))
      << "no answer came that could be lost";
}

void Relay::SilenceOpenConnections() {
  const std::lock_guard lock(mutex_);
  for (const auto& wire : wires_) wire->Silence();
}

void Relay::BreakAndLeadTo(const std::string& server) {
  std::list<std::unique_ptr<Wire>> broken;  // waited for without the lock
  const std::lock_guard lock(mutex_);
  for (const auto& wire : wires_) wire->Break();
  broken.swap(wires_);
  server_ = server;
  losing_ = losing_from_an_end_ = false;
}

void Relay::Accept() {
  for (int client; (client = loopback::Accept(listener_)) >= 0;) {
    const std::lock_guard lock(mutex_);
    wires_.push_back(std::make_unique<Wire>(*this, client, loopback::ConnectTo(PortIn(server_))));
  }
}

bool Relay::Passes(const std::string& frame) {
  const std::lock_guard lock(mutex_);
  losing_ |= losing_from_an_end_ && OfACall(frame) && EndsAnAnswer(frame);
  if (!losing_ || !OfACall(frame)) return true;
  if (EndsAnAnswer(frame)) {
    lost_an_answer_ = true;
    changed_.notify_all();
  }
  return false;
}

}  // namespace tenure::testing
