#include "server/wire/silent_calls.h"

#include "server/wire/server_call.h"

namespace tenure::wire {

SilentCalls::Place SilentCalls::Join(ServerCall& call) {
  const auto place = calls_.insert(calls_.end(), &call);
  if (!looks_later_) LookLater();
  return place;
}

void SilentCalls::Leave(Place place) { calls_.erase(place); }

void SilentCalls::LookLater() {
  looks_later_ = true;
  alarm_.Set(&queue_.get(), std::chrono::system_clock::now() + patience_, look_.get());
}

// Between two looks, a call may be silent for twice the time.
void SilentCalls::Look(bool /*ok*/) {
  looks_later_ = false;
  const auto begun_before = std::chrono::steady_clock::now() - patience_;
  for (ServerCall* call : calls_) {
    if (call->began_at() > begun_before) break;
    call->Cancel();
  }
  if (!calls_.empty()) LookLater();
}

}  // namespace tenure::wire
