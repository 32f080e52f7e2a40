#include "tests/support/fake_database.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace tenure::testing {
namespace {

// Constants of MySQL's protocol.
constexpr uint32_t kConnectWithDb = 8;
constexpr uint32_t kProtocol41 = 0x200;
constexpr uint32_t kTransactions = 0x2000;
constexpr uint32_t kSecureConnection = 0x8000;
constexpr uint32_t kMultiStatements = 0x10000;
constexpr uint32_t kMultiResults = 0x20000;
constexpr uint32_t kPluginAuth = 0x80000;
constexpr size_t kPacketMax = 0xffffff;

std::string Number(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

std::string Greeting(uint32_t capabilities, const std::string& plugin) {
  const std::string zero(1, '\0');
  return "\x0a" + std::string("8.0.36") + zero + Number(1, 4) + "12345678" + zero +
         Number(capabilities & 0xffff, 2) + Number(45, 1) + Number(2, 2) +
         Number(capabilities >> 16, 2) + Number(21, 1) + std::string(10, '\0') + "abcdefghijkl" +
         zero + plugin + zero;
}

const std::string kOk = std::string("\0\0\0\2\0\0\0", 7);

std::string Text(const std::string& text) { return Number(text.size(), 1) + text; }

std::string Column() {
  return Text("def") + Text("") + Text("") + Text("") + Text("c") + Text("") + "\x0c" +
         Number(45, 2) + Number(1024, 4) + Number(253, 1) + Number(0, 2) + Number(0, 1) +
         Number(0, 2);
}

}  // namespace

FakeDatabase::FakeDatabase(Attack attack) : attack_(attack) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(listener_, any, size), 0);
  EXPECT_EQ(listen(listener_, 16), 0);
  EXPECT_EQ(getsockname(listener_, any, &size), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

FakeDatabase::~FakeDatabase() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const int client : clients_) shutdown(client, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

std::string FakeDatabase::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

std::string FakeDatabase::given() const {
  const std::lock_guard lock(mutex_);
  return given_;
}

void FakeDatabase::Accept() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const std::lock_guard lock(mutex_);
    if (closing_) {
      close(client);
      return;
    }
    clients_.insert(client);
    threads_.emplace_back([this, client] {
      Serve(client);
      const std::lock_guard done(mutex_);
      clients_.erase(client);
      close(client);
    });
  }
}

void FakeDatabase::Serve(int client) {
  uint32_t capabilities = kConnectWithDb | kProtocol41 | kTransactions | kSecureConnection |
                          kMultiStatements | kMultiResults;
  if (attack_ != Attack::kKnowsNoPlugins) capabilities |= kPluginAuth;
  const std::string clear = "mysql_clear_password";
  const bool greets_with_it = attack_ == Attack::kGreetsWithClearText;
  if (!Send(client, 0, Greeting(capabilities, greets_with_it ? clear : "mysql_native_password"))) {
    return;
  }
  if (Receive(client).empty()) return;
  if (attack_ == Attack::kEscapesInAnError) {
    Send(client, 2, "\xff" + Number(1045, 2) + "#28000denied\x1b[2J\n\u202e");
    return;
  }
  if (attack_ == Attack::kEndlessPacket || attack_ == Attack::kEndlessRows) {
    if (!Send(client, 2, kOk)) return;
    // The driver sets its session up before it asks for anything.
    for (std::string statement = Receive(client); !statement.empty(); statement = Receive(client)) {
      if (statement.find("SHOW") != std::string::npos) return Attack_(client);
      if (!Send(client, 1, kOk)) return;
    }
    return;
  }
  const std::string zero(1, '\0');
  const std::string nonce = "abcdefghijklmnopqrst" + zero;
  if (attack_ == Attack::kWantsThePassword) {
    if (!Send(client, 2, "\xfe" + std::string("caching_sha2_password") + zero + nonce)) return;
    if (Receive(client).empty() || !Send(client, 4, "\x01\x04")) return;
  } else {
    const bool sha256 = attack_ == Attack::kSwitchesToSha256;
    if (!Send(client, 2,
              "\xfe" + (sha256 ? "sha256_password" + zero + nonce : clear + zero + zero))) {
      return;
    }
  }
  const std::string answer = Receive(client);
  const std::lock_guard lock(mutex_);
  given_ += answer;
}

void FakeDatabase::Attack_(int client) {
  const std::string junk(kPacketMax, 'x');
  if (attack_ == Attack::kEndlessPacket) {
    for (uint8_t sequence = 1; Send(client, sequence, junk); ++sequence) continue;
    return;
  }
  const std::string end("\xfe\0\0\2\0", 5);
  uint8_t sequence = 1;
  if (!Send(client, sequence++, Number(1, 1)) || !Send(client, sequence++, Column()) ||
      !Send(client, sequence++, end)) {
    return;
  }
  const std::string row = "\xfd" + Number(64 << 10, 3) + std::string(64 << 10, 'x');
  while (Send(client, sequence++, row)) continue;
}

bool FakeDatabase::Send(int client, uint8_t sequence, const std::string& payload) {
  return SendBytes(client, Number(payload.size(), 3) + static_cast<char>(sequence) + payload);
}

bool FakeDatabase::SendBytes(int client, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t more = send(client, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += static_cast<size_t>(more);
    bytes_sent_ += static_cast<uint64_t>(more);
  }
  return true;
}

std::string FakeDatabase::Receive(int client) {
  std::array<unsigned char, 4> header{};
  if (recv(client, header.data(), header.size(), MSG_WAITALL) != 4) return "";
  std::string payload(header[0] | (size_t{header[1]} << 8) | (size_t{header[2]} << 16), '\0');
  if (recv(client, payload.data(), payload.size(), MSG_WAITALL) !=
      static_cast<ssize_t>(payload.size())) {
    return "";
  }
  const std::lock_guard lock(mutex_);
  received_ += payload;
  return payload;
}

}  // namespace tenure::testing
