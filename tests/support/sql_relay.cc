#include "tests/support/sql_relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <utility>

#include "tests/support/loopback.h"

namespace tenure::testing {
namespace {

// A message of a client's is three bytes with its length, lowest first, a number, and its content.
constexpr size_t kHeaderBytes = 4;

// Takes the first message out of `bytes`, if it is complete.
std::optional<std::string> TakeMessage(std::string& bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  size_t content = 0;
  for (size_t i = 0; i < 3; ++i) {
    content |= static_cast<size_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  if (bytes.size() < kHeaderBytes + content) return std::nullopt;
  std::string message = bytes.substr(0, kHeaderBytes + content);
  bytes.erase(0, message.size());
  return message;
}

}  // namespace

// One connection of a store, and the one to the server that belongs to it.
class SqlRelay::Wire {
 public:
  Wire(SqlRelay& relay, int client, int server)
      : relay_(relay),
        client_(client),
        server_(server),
        requests_([this] { PassRequests(); }),
        answers_([this] { PassAnswers(); }) {}

  ~Wire() {
    shutdown(client_, SHUT_RDWR);
    shutdown(server_, SHUT_RDWR);
    requests_.join();
    answers_.join();
    close(client_);
    close(server_);
  }

  void Deliver(const std::string& message) const { loopback::SendAll(server_, message); }
  // The server ends the connection once it has answered, and its answers are still taken.
  void HangUp() {
    shutdown(server_, SHUT_WR);
    std::unique_lock lock(mutex_);
    ended_changed_.wait(lock, [&] { return ended_; });
  }

 private:
  void PassRequests() {
    std::string pending;
    for (std::string bytes; !(bytes = loopback::Receive(client_)).empty();) {
      pending += bytes;
      while (auto message = TakeMessage(pending)) {
        const Then then = relay_.Take(*message);
        if (!then) {
          Deliver(*message);
          continue;
        }
        silent_ = true;
        held_.reset(new Held(*this, *std::move(message)));
        then(*held_);
        relay_.Broke();
        shutdown(client_, SHUT_RDWR);
        return;
      }
    }
    shutdown(server_, SHUT_WR);
  }

  void PassAnswers() {
    for (std::string bytes; !(bytes = loopback::Receive(server_)).empty();) {
      if (!silent_) loopback::SendAll(client_, bytes);
    }
    if (!silent_) shutdown(client_, SHUT_RDWR);
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ended_changed_.notify_all();
  }

  SqlRelay& relay_;
  const int client_;
  const int server_;
  std::unique_ptr<Held> held_;
  std::atomic<bool> silent_ =
      false;  // its client gets nothing more, except that the connection broke
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;  // guarded by mutex_: the server has ended the connection
  std::thread requests_;
  std::thread answers_;
};

void SqlRelay::Held::Deliver() const { wire_.Deliver(message_); }

void SqlRelay::Held::HangUp() const { wire_.HangUp(); }

SqlRelay::SqlRelay(int server_port)
    : server_port_(server_port), listener_(loopback::Listen()), accepting_([this] { Accept(); }) {}

SqlRelay::~SqlRelay() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  wires_.clear();
  close(listener_);
}

int SqlRelay::port() const { return loopback::PortOf(listener_); }

void SqlRelay::BreakAt(std::string text, Then then) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  then_ = std::move(then);
  broke_ = false;
}

void SqlRelay::LoseReplyTo(std::string text) {
  BreakAt(std::move(text), [](const Held& held) {
    held.Deliver();
    held.HangUp();
  });
}

bool SqlRelay::broke() const {
  const std::lock_guard lock(mutex_);
  return broke_;
}

void SqlRelay::Broke() {
  const std::lock_guard lock(mutex_);
  broke_ = true;
}

void SqlRelay::Accept() {
  for (int client; (client = loopback::Accept(listener_)) >= 0;) {
    const std::lock_guard lock(mutex_);
    wires_.push_back(std::make_unique<Wire>(*this, client, loopback::ConnectTo(server_port_)));
  }
}

SqlRelay::Then SqlRelay::Take(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (!then_ || message.find(text_) == std::string::npos) return nullptr;
  return std::exchange(then_, nullptr);
}

}  // namespace tenure::testing
