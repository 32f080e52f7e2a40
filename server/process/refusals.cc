#include "server/process/refusals.h"

#include <utility>

#include "server/log/log.h"

namespace tenure::process {

using namespace std::chrono_literals;

void Refusals::Add(network::Refusal refusal) {
  const bool in_all = refusal == network::Refusal::kTooMany;
  (in_all ? metrics_.connections_refused_in_all : metrics_.connections_refused_per_address)
      .Increment();
  connections_.Add(in_all ? "--connections-max" : "--connections-per-address-max");
}

void Refusals::Add(network::Newcomer refused) {
  switch (refused) {
    case network::Newcomer::kHandshake:
      metrics_.newcomers_handshakes_refused.Increment();
      return newcomers_.Add("handshakes");
    case network::Newcomer::kCall:
      metrics_.newcomers_calls_refused.Increment();
      return newcomers_.Add("calls");
    case network::Newcomer::kMessage:
      metrics_.newcomers_messages_refused.Increment();
      return newcomers_.Add("message_bytes");
  }
}

void Refusals::Log::Add(const std::string& limit) {
  uint64_t count = 0;
  {
    const MutexLock lock(mutex_);
    ++count_;
    const auto now = std::chrono::steady_clock::now();
    if (now - logged_at_ < 1s) return;
    logged_at_ = now;
    count = std::exchange(count_, 0);
  }
  LogWarning(message_, {{"limit", limit}, {"count", count}});
}

}  // namespace tenure::process
