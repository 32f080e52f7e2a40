// The wires of one candidate: one to each replica, on which bad things happen. What goes over them
// is read along: which requests renew the lease, and which of them were answered.
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

  // Those that are complete with these bytes.
  [[nodiscard]] std::vector<Message> Take(std::string_view bytes);

 private:
  static constexpr size_t kPrefaceBytes = 24;  // which a client begins with

  size_t preface_left_;
  std::string frames_;
  std::map<uint32_t, std::string> calls_;
};

// Thread-safe.
class Wire {
 public:
  // `ports` are the replicas', in the candidate's order.
  Wire(Witness& witness, std::string process, std::string election, const std::vector<int>& ports);

  [[nodiscard]] std::string endpoints() const;  // for the candidate
  void Become(Link::State state, std::chrono::milliseconds delay = {});

 private:
  // A call, or the answer to one, is of this link, connection and stream.
  using Call = std::tuple<size_t, uint64_t, uint32_t>;
  struct Connection {
    Messages requests{true};
    Messages answers{false};
  };

  void Read(size_t link, uint64_t connection, bool from_server, std::string_view bytes);
  void ReadRequest(const Call& call, const std::string& bytes, Moment now);
  void ReadAnswer(const Call& call, const std::string& bytes, Moment now);

  Witness& witness_;
  const std::string process_;
  const std::string election_;
  std::mutex mutex_;
  std::map<std::pair<size_t, uint64_t>, Connection> connections_;  // guarded by mutex_
  std::map<Call, Moment> campaigns_;                               // guarded by mutex_
  std::map<Call, std::map<uint64_t, Moment>> renewals_;            // guarded by mutex_; by sequence
  std::vector<std::unique_ptr<Link>> links_;  // the last: their threads read along
};

}  // namespace tenure::testing
