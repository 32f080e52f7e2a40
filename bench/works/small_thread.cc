#include "bench/works/small_thread.h"

#include <stdexcept>
#include <utility>

namespace tenure::bench {
namespace {

constexpr size_t kStackBytes = 256 * 1024;

void* Run(void* body) {
  (*static_cast<const std::function<void()>*>(body))();
  return nullptr;
}

}  // namespace

SmallThread::SmallThread(std::function<void()> body) : body_(std::move(body)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  void* const argument = const_cast<std::function<void()>*>(&body_);  // Run only reads it
  const int error = pthread_create(&thread_, &attributes, Run, argument);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("cannot start another thread");
}

SmallThread::~SmallThread() { pthread_join(thread_, nullptr); }

}  // namespace tenure::bench
