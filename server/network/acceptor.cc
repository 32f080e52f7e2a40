#include "server/network/acceptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <utility>

namespace tenure::network {
namespace {

using namespace std::chrono_literals;

constexpr auto kSweepInterval = 1s;
constexpr auto kSweepIntervalMin = 50ms;  // while connections are refused
constexpr int kAcceptedAtOnceMax = 256;   // before another listener's turn

bool WaitFor(const Descriptor& socket, short events, std::chrono::steady_clock::time_point until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd waits{socket.number(), events, 0};
  return left.count() > 0 && poll(&waits, 1, static_cast<int>(left.count())) == 1;
}

Descriptor Spare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// Resets the connection, so that the peer notices at once and nothing lingers here.
void Abort(Descriptor connection) {
  const linger now{1, 0};
  setsockopt(connection.number(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace

Acceptor::Acceptor(std::vector<Descriptor> listeners, const ConnectionLimits& limits,
                   AcceptorOwner owner, std::function<Clock::time_point()> now)
    : listeners_(std::move(listeners)),
      owner_(std::move(owner)),
      now_(std::move(now)),
      connections_(limits),
      spare_(Spare()),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

Acceptor::~Acceptor() {
  eventfd_write(stop_.number(), 1);
  thread_.join();
}

void Acceptor::Run() {
  std::vector<pollfd> polled;
  for (const Descriptor& listener : listeners_) polled.push_back({listener.number(), POLLIN, 0});
  polled.push_back({stop_.number(), POLLIN, 0});
  const auto interval = std::chrono::milliseconds(kSweepInterval).count();
  while (true) {
    poll(polled.data(), polled.size(), static_cast<int>(interval));
    if (polled.back().revents != 0) return;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[i].revents != 0) AcceptAll(listeners_[i]);
    }
    if (now_() - swept_at_ >= kSweepInterval) SweepSoon();
    if (std::exchange(told_, connections_.open()) != connections_.open()) owner_.open(told_);
  }
}

void Acceptor::AcceptAll(const Descriptor& listener) {
  for (int i = 0; i < kAcceptedAtOnceMax; ++i) {
    auto accepted = Accept(listener);
    if (accepted) {
      MayAdd(*std::move(accepted));
    } else if (accepted.error() == AcceptFailure::kNoDescriptors) {
      return RefuseWithoutDescriptor(listener);
    } else {
      return;
    }
  }
}

bool Acceptor::Reacts(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const Descriptor& listener = listeners_.front();
  const auto own = BindBeside(listener);
  if (!own) return false;
  {
    const MutexLock lock(mutex_);
    own_ = own->end;
  }
  if (!ConnectTo(listener, own->socket) || !WaitFor(own->socket, POLLOUT, until)) return false;
  shutdown(own->socket.number(), SHUT_WR);
  return WaitFor(own->socket, POLLIN, until);
}

bool Acceptor::IsOwn(const End& peer) {
  const MutexLock lock(mutex_);
  if (own_ != peer) return false;
  own_.reset();  // it connects once
  return true;
}

void Acceptor::MayAdd(Accepted accepted) {
  if (IsOwn(accepted.peer)) return owner_.take(std::move(accepted.connection));
  auto refusal = connections_.Add(accepted.connection, accepted.peer);
  if (refusal) {
    SweepSoon();
    refusal = connections_.Add(accepted.connection, accepted.peer);
  }
  if (!refusal) return owner_.take(std::move(accepted.connection));
  Abort(std::move(accepted.connection));
  owner_.refused(*refusal);
}

void Acceptor::SweepSoon() {
  const auto now = now_();
  if (now - swept_at_ < kSweepIntervalMin) return;
  swept_at_ = now;
  connections_.Sweep();
}

void Acceptor::RefuseWithoutDescriptor(const Descriptor& listener) {
  spare_.Reset();
  if (auto accepted = Accept(listener)) Abort(std::move(accepted->connection));
  spare_ = Spare();
  owner_.refused(Refusal::kTooMany);
}

}  // namespace tenure::network
