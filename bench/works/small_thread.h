// A thread with a small stack, so that one process can run thousands.
#pragma once

#include <pthread.h>

#include <functional>

namespace tenure::bench {

class SmallThread {
 public:
  // Throws std::runtime_error if no thread can be started.
  explicit SmallThread(std::function<void()> body);
  ~SmallThread();  // waits for its end
  SmallThread(const SmallThread&) = delete;
  SmallThread& operator=(const SmallThread&) = delete;

 private:
  const std::function<void()> body_;
  pthread_t thread_{};
};

}  // namespace tenure::bench
