// An impostor at a database's address: it speaks MySQL's protocol only as far as an attack needs
// it, without TLS. On loopback, for as long as it lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tenure::testing {

class FakeDatabase {
 public:
  enum class Attack {
    kGreetsWithClearText,  // names the plugin mysql_clear_password at once
    kSwitchesToClearText,  // after it was greeted
    kKnowsNoPlugins,       // and then asks for one all the same
    kSwitchesToSha256,     // whose passwords are encrypted with a key of the server's
    kWantsThePassword,     // does not take the proof of caching_sha2_password for enough
    kEndlessPacket,        // answers the first statement with a packet that has no end
    kEndlessRows,          // answers it with rows that have no end
    kEscapesInAnError,     // refuses the login with text that is harmful on a terminal
  };

  explicit FakeDatabase(Attack attack);
  ~FakeDatabase();
  FakeDatabase(const FakeDatabase&) = delete;
  FakeDatabase& operator=(const FakeDatabase&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // All that clients have sent.
  [[nodiscard]] std::string received() const;
  // The clients' answers when they were asked for the password.
  [[nodiscard]] std::string given() const;
  [[nodiscard]] uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  void Accept();
  void Serve(int client);
  // False if the client has gone.
  bool Send(int client, uint8_t sequence, const std::string& payload);
  bool SendBytes(int client, const std::string& bytes);
  // The payload of the next packet; empty if the client has gone.
  std::string Receive(int client);
  void Attack_(int client);

  const Attack attack_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<uint64_t> bytes_sent_ = 0;
  mutable std::mutex mutex_;
  std::string received_;   // guarded by mutex_
  std::string given_;      // guarded by mutex_
  std::set<int> clients_;  // guarded by mutex_
  bool closing_ = false;   // guarded by mutex_
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace tenure::testing
