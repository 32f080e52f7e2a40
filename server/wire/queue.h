// The threads that run gRPC. Each polls a completion queue, does the I/O of connections meanwhile,
// and passes each finished operation to its tag.
//
// One thread is fastest on two processors: two hand the polling to each other, which costs more
// than it gains (ADR 47).
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace tenure::wire {

// Waits for the end of an operation. gRPC knows it by its address: it must live until then.
class Tag {
 public:
  // `ok` means what gRPC says for the operation. Runs on a queue's thread: it must not block.
  virtual void Completed(bool ok) = 0;

 protected:
  ~Tag() = default;
};

// A tag that calls a member function of its owner.
template <typename Owner>
class TagOf final : public Tag {
 public:
  using Handle = void (Owner::*)(bool ok);
  TagOf(Owner& owner, Handle handle) : owner_(owner), handle_(handle) {}

  // The pointer to pass to gRPC.
  [[nodiscard]] void* get() { return static_cast<Tag*>(this); }

  void Completed(bool ok) override { (owner_.*handle_)(ok); }

 private:
  Owner& owner_;
  const Handle handle_;
};

// Work for the queue's thread. Must live until it has run.
class Job {
 public:
  virtual void Run() = 0;

 protected:
  ~Job() = default;
};

// A completion queue and its thread.
class Queue {
 public:
  explicit Queue(std::unique_ptr<grpc::ServerCompletionQueue> queue) : queue_(std::move(queue)) {}
  // Waits until every operation has ended. REQUIRES: the server is shut down, and still there; no
  // thread is in Post.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Starts its thread.
  void Start();
  // Whether the caller is on its thread.
  [[nodiscard]] bool IsCurrent() const;
  // Runs the job on the queue's thread, soon, in the order of the posts. Thread-safe.
  void Post(Job& job);

  [[nodiscard]] grpc::ServerCompletionQueue& get() { return *queue_; }

 private:
  void Poll();
  void Woken(bool ok);
  void Wake();

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  grpc::Alarm alarm_;
  TagOf<Queue> wake_{*this, &Queue::Woken};
  Mutex mutex_;
  std::deque<Job*> jobs_ TENURE_GUARDED_BY(mutex_);
  bool woken_ TENURE_GUARDED_BY(mutex_) = false;  // its thread will look
  std::thread thread_;
};

}  // namespace tenure::wire
