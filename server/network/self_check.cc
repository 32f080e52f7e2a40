#include "server/network/self_check.h"

#include <utility>

namespace tenure::network {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 1s;
constexpr auto kHealthyFor = 10s;

}  // namespace

SelfCheck::SelfCheck(std::function<bool()> ask)
    : ask_(std::move(ask)), healthy_at_(Clock::now()), thread_([this] { Run(); }) {}

void SelfCheck::Stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
  healthy_at_ = Clock::time_point::max();
}

bool SelfCheck::Healthy() const { return Clock::now() - kHealthyFor < healthy_at_.load(); }

void SelfCheck::Run() {
  while (true) {
    if (ask_()) healthy_at_ = Clock::now();
    const auto next = Clock::now() + kInterval;
    MutexLock lock(mutex_);
    while (!stopping_ && changed_.WaitUntil(lock, next)) continue;
    if (stopping_) return;
  }
}

}  // namespace tenure::network
