#include "server/network/newcomers.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"

namespace tenure::network {
namespace {

constexpr size_t kCreditMax = 100;

}  // namespace

class Newcomers::State {
 public:
  State(std::function<void(Newcomer)> refused, const NewcomerLimits& limits,
        std::function<Clock::time_point()> now)
      : refused_(std::move(refused)),
        now_(std::move(now)),
        calls_max_(limits.calls.max),
        handshakes_(limits.handshakes),
        calls_(limits.calls),
        message_bytes_(limits.message_bytes) {}

  [[nodiscard]] bool Take(Newcomer what, const Origin& origin, size_t amount = 1) {
    const MutexLock lock(mutex_);
    return Of(what).Take(origin, amount, now_());
  }
  // Exceeds the origin's share. False if that would still be too many.
  [[nodiscard]] bool TakeOnCredit(const Origin& origin) {
    const MutexLock lock(mutex_);
    if (calls_.held() >= 2 * calls_max_) return false;
    calls_.TakeAnyway(origin, 1);
    return true;
  }
  void Refused(Newcomer what) const { refused_(what); }
  void Release(Newcomer what, const Origin& origin, size_t amount = 1) {
    const MutexLock lock(mutex_);
    Of(what).Release(origin, amount);
  }
  void ReleaseUnused(Newcomer what, const Origin& origin) {
    const MutexLock lock(mutex_);
    Of(what).ReleaseUnused(origin, 1, now_());
  }

  [[nodiscard]] NewcomerCounts Count() const {
    const MutexLock lock(mutex_);
    return {handshakes_.held(), calls_.held(), message_bytes_.held()};
  }

 private:
  NewcomerLimits::Share& Of(Newcomer what) TENURE_REQUIRES(mutex_) {
    switch (what) {
      case Newcomer::kHandshake: return handshakes_;
      case Newcomer::kCall: return calls_;
      case Newcomer::kMessage: break;
    }
    return message_bytes_;
  }

  const std::function<void(Newcomer)> refused_;
  const std::function<Clock::time_point()> now_;
  const size_t calls_max_;
  mutable Mutex mutex_;
  NewcomerLimits::Share handshakes_ TENURE_GUARDED_BY(mutex_);
  NewcomerLimits::Share calls_ TENURE_GUARDED_BY(mutex_);
  NewcomerLimits::Share message_bytes_ TENURE_GUARDED_BY(mutex_);
};

class Newcomers::UncountedHandshake final : public Handshake {
 public:
  void Succeeded() override {}
};

class Newcomers::CountedHandshake final : public Handshake {
 public:
  CountedHandshake(std::shared_ptr<State> state, const Origin& origin)
      : state_(std::move(state)), origin_(origin) {}
  ~CountedHandshake() override {
    if (succeeded_) {
      state_->Release(Newcomer::kHandshake, origin_);
    } else {
      state_->ReleaseUnused(Newcomer::kHandshake, origin_);
    }
  }
  CountedHandshake(const CountedHandshake&) = delete;
  CountedHandshake& operator=(const CountedHandshake&) = delete;

  void Succeeded() override { succeeded_ = true; }

 private:
  const std::shared_ptr<State> state_;
  const Origin origin_;
  bool succeeded_ = false;
};

class Newcomers::CountedConnection final : public Connection {
 public:
  CountedConnection(std::shared_ptr<State> state, const Origin& origin)
      : state_(std::move(state)), origin_(origin) {}

  bool BeginCall() override {
    if (state_->Take(Newcomer::kCall, origin_)) return true;
    if (credit_ == 0 || !state_->TakeOnCredit(origin_)) {
      state_->Refused(Newcomer::kCall);
      return false;
    }
    --credit_;
    return true;
  }
  void FirstMessage() override {
    credit_ = std::min(credit_ + 1, kCreditMax);
    state_->Release(Newcomer::kCall, origin_);
  }
  void EndCall(bool had_message) override {
    if (!had_message) state_->ReleaseUnused(Newcomer::kCall, origin_);
  }

  bool BeginMessage(size_t bytes) override {
    if (state_->Take(Newcomer::kMessage, origin_, bytes)) return true;
    state_->Refused(Newcomer::kMessage);
    return false;
  }
  void EndMessage(size_t bytes) override { state_->Release(Newcomer::kMessage, origin_, bytes); }

 private:
  const std::shared_ptr<State> state_;
  const Origin origin_;
  // Calls that this connection may begin beyond its origin's share: one for each call that sent a
  // message. So a connected client is served, whatever others do at its address.
  size_t credit_ = 0;
};

Newcomers::Newcomers(bool tls, std::function<void(Newcomer)> refused, const NewcomerLimits& limits,
                     std::function<Clock::time_point()> now)
    : tls_(tls), state_(std::make_shared<State>(std::move(refused), limits, std::move(now))) {}

std::unique_ptr<PeerGuard::Handshake> Newcomers::BeginHandshake(std::string_view peer) {
  if (!tls_) return std::make_unique<UncountedHandshake>();
  const Origin origin = OriginOf(peer);
  if (!state_->Take(Newcomer::kHandshake, origin)) {
    state_->Refused(Newcomer::kHandshake);
    return nullptr;
  }
  return std::make_unique<CountedHandshake>(state_, origin);
}

std::unique_ptr<PeerGuard::Connection> Newcomers::BeginConnection(std::string_view peer) {
  return std::make_unique<CountedConnection>(state_, OriginOf(peer));
}

NewcomerCounts Newcomers::Count() const { return state_->Count(); }

}  // namespace tenure::network
