// The wires of one candidate: one to each replica, on which bad things happen. They also see which
// requests renew the lease, and which of them were answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/polyglot/bad_days/witness.h"
#include "tests/support/link.h"

namespace tenure::testing {

// The messages of one direction of an HTTP/2 connection that carries gRPC calls.
class Messages {
 public:
  struct Message {
    uint32_t stream;  // of HTTP/2: one call
    std::string bytes;
  };
  explicit Messages(bool of_client) : preface_left_(of_client ? kPrefaceBytes : 0) {}

  // The messages that these bytes complete.
  [[nodiscard]] std::vector<Message> Take(std::string_view bytes);

 private:
  static constexpr size_t kPrefaceBytes = 24;  // which a client begins with

  size_t preface_left_;
  std::string frames_;
  std::map<uint32_t, std::string> calls_;
};

// Thread-safe, except for Open and Move.
class Wire {
 public:
  enum class Kind : uint8_t {
    kOpen,
    kClosed,   // connections are refused, until it is opened
    kOneName,  // the replicas are addresses of one name, which may move
  };

  // `ports` are the replicas', in the candidate's order.
  Wire(Witness& witness, std::string process, std::string election, const std::vector<int>& ports,
       Kind kind = Kind::kOpen);

  [[nodiscard]] std::string endpoints() const;  // for the candidate
  [[nodiscard]] std::string hosts() const;      // its /etc/hosts, as it has to be now
  void Open();
  // A replica is at another address of the name from now on, and no longer at the one before.
  void Move(size_t replica);
  void Become(Link::State state, std::chrono::milliseconds delay = {});

 private:
  // Identifies a call, and its answer: link, connection and stream.
  using Call = std::tuple<size_t, uint64_t, uint32_t>;
  struct Connection {
    Messages requests{true};
    Messages answers{false};
  };

  struct Replica {
    int port;
    std::string address;  // at which the candidate finds it
    std::unique_ptr<Link> link;
  };

  [[nodiscard]] Replica Connect(int port);
  void Read(size_t link, uint64_t connection, bool from_server, std::string_view bytes);
  void ReadRequest(const Call& call, const std::string& bytes, Moment now);
  void ReadAnswer(const Call& call, const std::string& bytes, Moment now);

  Witness& witness_;
  const std::string process_;
  const std::string election_;
  const Kind kind_;
  const int port_;  // of all addresses of the name
  size_t links_made_ = 0;
  bool open_ = false;
  std::mutex mutex_;
  std::map<std::pair<size_t, uint64_t>, Connection> connections_;  // guarded by mutex_
  std::map<Call, Moment> campaigns_;                               // guarded by mutex_
  std::map<Call, std::map<uint64_t, Moment>> renewals_;            // guarded by mutex_; by sequence
  std::vector<Replica> replicas_;  // the last: the threads of the links read along
};

}  // namespace tenure::testing
