#include "server/wire/queue_calls.h"

#include <algorithm>
#include <utility>

#include "server/wire/server_call.h"

namespace tenure::wire {

QueueCalls::Place QueueCalls::Join(ServerCall& call) {
  const Place place{begun_.insert(begun_.end(), &call), silent_.insert(silent_.end(), &call)};
  if (!looks_later_) LookLater();
  return place;
}

void QueueCalls::Speak(Place& place) {
  if (place.silent) silent_.erase(*place.silent);
  place.silent.reset();
}

void QueueCalls::Leave(Place& place) {
  Speak(place);
  begun_.erase(place.begun);
}

void QueueCalls::Cancel(Which which) {
  {
    const MutexLock lock(mutex_);
    to_cancel_.push_back(std::move(which));
  }
  queue_.Post(*this);
}

void QueueCalls::Run() {
  std::vector<Which> to_cancel;
  {
    const MutexLock lock(mutex_);
    to_cancel.swap(to_cancel_);
  }
  for (ServerCall* call : begun_) {
    if (std::ranges::any_of(to_cancel, [&](const Which& which) { return which(*call); })) {
      call->Cancel();
    }
  }
}

void QueueCalls::LookLater() {
  looks_later_ = true;
  alarm_.Set(&queue_.get(), std::chrono::system_clock::now() + patience_, look_.get());
}

// Runs once per `patience_`, so a call may be silent for up to twice that time.
void QueueCalls::Look(bool /*ok*/) {
  looks_later_ = false;
  const auto begun_before = std::chrono::steady_clock::now() - patience_;
  for (ServerCall* call : silent_) {
    if (call->began_at() > begun_before) break;
    call->Cancel();
  }
  if (!silent_.empty()) LookLater();
}

}  // namespace tenure::wire
