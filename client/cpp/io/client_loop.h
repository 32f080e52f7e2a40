// The I/O of a client: carries out what its ClientSession decides, on one thread.
//
//   calls' answers, stream's messages, electors' wishes --mailbox--> [loop: ClientSession] -->
//   calls, beliefs, news
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "client/cpp/io/holder_clock.h"
#include "client/cpp/io/mailbox.h"
#include "client/cpp/io/serial_executor.h"
#include "client/cpp/machine/belief.h"
#include "client/cpp/machine/client_session.h"
#include "tenure/client.h"

namespace tenure {

// One elector, as the loop sees it.
class SeatListener {
 public:
  virtual ~SeatListener() = default;
  // About the seat with this index in its set; the belief is already up to date. Runs on the loop's
  // thread, so it must not block.
  virtual void OnNews(size_t index, const SeatEvent& event, SerialExecutor& callbacks) = 0;
  // About all seats of the set.
  [[nodiscard]] virtual Belief& belief() = 0;
};

// Thread-safe. The session ends with the last owner: the destructor waits for that, but hardly
// longer than a second, and never on a thread of the client itself.
class ClientLoop {
 public:
  using Seat = ClientSession::SeatNumber;
  using Input = std::function<void(ClientSession&, Lease::Time now)>;

  explicit ClientLoop(ClientOptions options);
  ~ClientLoop();
  ClientLoop(const ClientLoop&) = delete;
  ClientLoop& operator=(const ClientLoop&) = delete;

  [[nodiscard]] const ClientOptions& options() const { return options_; }
  [[nodiscard]] Lease::Time Now() const noexcept { return clock_.Now(); }
  // Ends the session: see Client::Close.
  [[nodiscard]] grpc::Status Close(std::chrono::milliseconds patience);
  // Reserves numbers for the seats of these elections, and returns the first. Throws
  // std::invalid_argument if one of the elections is still claimed.
  [[nodiscard]] Seat Claim(const std::vector<std::string>& elections);
  void Add(Seat first, std::vector<SeatOptions> set, std::shared_ptr<SeatListener> listener);
  // Frees the elections for another elector of this client.
  void Remove(const std::vector<std::string>& elections);
  // Logs the entry, in order. From any thread.
  void Say(LogEntry entry) const;
  // Accepts inputs for the session, from any thread, even after the loop has ended.
  [[nodiscard]] std::function<void(Input)> mailbox() const;

 private:
  class Body;

  const ClientOptions options_;
  const HolderClock clock_;
  std::shared_ptr<Body> body_;
  std::thread thread_;
  Mutex mutex_;
  std::set<std::string> elections_ TENURE_GUARDED_BY(mutex_);
  Seat last_seat_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure
