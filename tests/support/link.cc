#include "tests/support/link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "tests/support/loopback.h"

namespace tenure::testing {

Link::Link(int server_port, Tap tap)
    : Link(server_port, std::move(tap), loopback::Bind("127.0.0.1", 0)) {
  Open();
}

Link::Link(int server_port, Tap tap, int listener)
    : server_port_(server_port), tap_(std::move(tap)), listener_(listener) {}

void Link::Open() {
  listen(listener_, SOMAXCONN);
  accepting_ = std::thread([this] { Accept(); });
}

Link::~Link() {
  Become(State::kDark);  // nothing is held any more
  shutdown(listener_, SHUT_RDWR);
  if (accepting_.joinable()) accepting_.join();
  Cut();
  close(listener_);
}

int Link::port() const { return loopback::PortOf(listener_); }

void Link::Become(State state, std::chrono::milliseconds delay) {
  delay_ = delay;
  state_ = state;
  state_.notify_all();
  if (state == State::kHalfClosed) {
    const std::lock_guard lock(mutex_);
    for (const auto& wire : wires_) shutdown(wire->near, SHUT_WR);
  }
  if (state == State::kMute || state == State::kDeaf || state == State::kDark ||
      state == State::kHalfClosed) {
    may_have_lost_ = true;
  }
  if (state == State::kWhole && may_have_lost_.exchange(false)) Cut();
}

void Link::Cut() {
  std::vector<std::unique_ptr<Wire>> broken;  // waited for without the lock
  {
    const std::lock_guard lock(mutex_);
    broken = std::exchange(wires_, {});
  }
  for (const auto& wire : broken) Break(*wire);
  for (const auto& wire : broken) Close(*wire);
}

void Link::Accept() {
  uint64_t number = 0;
  for (int near; (near = loopback::Accept(listener_)) >= 0;) {
    auto wire = std::make_unique<Wire>();
    wire->number = ++number;
    wire->near = near;
    wire->far = loopback::ConnectTo(server_port_);
    std::vector<std::unique_ptr<Wire>> over;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(wires_, [&](auto& other) {
        if (!other->over) return false;
        over.push_back(std::move(other));
        return true;
      });
      // Under the lock: nothing passes on a connection that a Cut would not find.
      wire->up = std::thread([this, it = wire.get()] { Pass(*it, it->near, it->far, false); });
      wire->down = std::thread([this, it = wire.get()] { Pass(*it, it->far, it->near, true); });
      wires_.push_back(std::move(wire));
    }
    for (const auto& it : over) Close(*it);
  }
}

void Link::Pass(Wire& wire, int from, int to, bool from_server) {
  bool passes = true;
  for (std::string bytes; !(bytes = loopback::Receive(from)).empty();) {
    if (from_server) state_.wait(State::kHeld);
    const State state = state_;
    passes &= state != State::kDark && state != (from_server ? State::kMute : State::kDeaf);
    if (passes && state == State::kSlow && from_server) std::this_thread::sleep_for(delay_.load());
    if (tap_ && (passes || !from_server)) tap_(wire.number, from_server, bytes);
    if (passes) loopback::SendAll(to, bytes);
  }
  Break(wire);
}

void Link::Break(Wire& wire) {
  shutdown(wire.near, SHUT_RDWR);
  shutdown(wire.far, SHUT_RDWR);
  wire.over = true;
}

void Link::Close(Wire& wire) {
  wire.up.join();
  wire.down.join();
  close(wire.near);
  close(wire.far);
}

}  // namespace tenure::testing
