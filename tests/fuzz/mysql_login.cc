// A login of tenured to a database, or to an impostor in its place. It succeeds or fails, and never
// sends the password in clear text.
//
// The input is what the server sends: its first byte says which mode of TLS the client has.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cppconn/connection.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "storage/mysql/error.h"
#include "storage/mysql/login.h"
#include "tests/fuzz/require.h"

namespace tenure {
namespace {

constexpr char kSecret[] = "the-secret-of-the-database";

// Sends the same bytes to each client, and keeps what it receives.
class Server {
 public:
  Server() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    Require(bind(listener_, any, size) == 0 && listen(listener_, 8) == 0 &&
                getsockname(listener_, any, &size) == 0,
            "a socket listens");
    port_ = ntohs(address.sin_port);
    std::thread([this] { Accept(); }).detach();
  }

  [[nodiscard]] uint16_t port() const { return port_; }
  void Say(std::string bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = std::move(bytes);
    heard_.clear();
  }
  [[nodiscard]] std::string heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void Accept() {
    while (true) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      std::string bytes;
      {
        const std::lock_guard lock(mutex_);
        bytes = bytes_;
      }
      (void)send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      shutdown(client, SHUT_WR);
      char buffer[4'096];
      for (ssize_t size = 0; (size = recv(client, buffer, sizeof buffer, 0)) > 0;) {
        const std::lock_guard lock(mutex_);
        heard_.append(buffer, static_cast<size_t>(size));
      }
      const linger reset{1, 0};  // so that its port is free at once
      setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      close(client);
    }
  }

  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::string bytes_;  // guarded by mutex_
  std::string heard_;  // guarded by mutex_
};

}  // namespace
}  // namespace tenure

// libmariadb reads a byte behind a server's version that has no dots. The sanitizer's replacements
// of strtol and the like would stop there each time.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "replace_str=0"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto& server = *new tenure::Server();
  if (size == 0) return 0;
  tenure::mysql::Config config;
  config.user = "tenure";
  config.database = "tenure";
  const bool required = data[0] % 2 == 0;
  config.tls.mode =
      required ? tenure::mysql::Tls::Mode::kRequired : tenure::mysql::Tls::Mode::kDisabled;
  server.Say({reinterpret_cast<const char*>(data) + 1, size - 1});
  try {
    (void)tenure::mysql::LogIn(config, {"127.0.0.1", server.port()}, tenure::kSecret);
  } catch (const tenure::mysql::MySqlError&) {
  }
  Require(server.heard().find(tenure::kSecret) == std::string::npos,
          "the password does not leave in clear text");
  return 0;
}
