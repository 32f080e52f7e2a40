// One call of a client: its messages, its end, and who serves it.
//
// A call begins with the dispatcher (dispatcher.h), which finds its method. The method finishes the
// call, or leaves it to a CallHandler. All events of a call arrive on one thread, one at a time.
// Operations may be started from any thread.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "server/wire/queue_calls.h"

namespace tenure::wire {

class Dispatcher;
struct Method;

// Serves a call that is more than one request and one answer. None of these may block.
class CallHandler {
 public:
  virtual ~CallHandler() = default;

  // Answers a Read; null: the client sends nothing more.
  virtual void OnRead(grpc::ByteBuffer* /*message*/) {}
  // Answers a Write; not `ok`: neither this message nor a later one arrives.
  virtual void OnWritten(bool /*ok*/) {}
  // The client is gone. At most once; the call still has to be finished.
  virtual void OnCancelled() {}
  // The call has finished, and no operation is under way. The last event of all.
  virtual void OnEnd() {}
};

class ServerCall final : private Job {
 public:
  // Waits for a call on the queue of `calls`. Owns itself.
  static void Await(Dispatcher& dispatcher, QueueCalls& calls);
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  [[nodiscard]] const grpc::ServerContextBase& context() const { return context_; }

  [[nodiscard]] std::chrono::steady_clock::time_point began_at() const { return began_at_; }
  // Ends it as if its client had cancelled it.
  void Cancel() { context_.TryCancel(); }

  // Call from the method, before it returns: the first event arrives after that.
  void ServeWith(std::shared_ptr<CallHandler> handler);

  // Parses and clears the bytes. False if they are not such a message; else it counts as received.
  [[nodiscard]] bool Receive(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) const;

  // At most one Read and one Write are in flight. Finish or Answer ends the call, once: no
  // operation follows, and the call may be gone when they return. A Read or a Write may still be in
  // flight then. gRPC's documentation advises against that, but its core sends pending messages
  // before the status, and completes pending reads.
  void Read();
  void Write(const google::protobuf::MessageLite& message);
  void Finish(const grpc::Status& status);
  void Answer(const google::protobuf::MessageLite& message);

 private:
  ServerCall(Dispatcher& dispatcher, QueueCalls& calls);
  ~ServerCall();

  // Runs `start` on the queue's thread, after earlier hand-overs; at once, if that is this thread.
  // Otherwise each operation that another thread starts would wake the queue's thread separately.
  template <typename Start>
  void HandOver(Start start);
  void RunHandedOver();
  void Run() override;

  void Arrived(bool ok);
  void ReadDone(bool ok);
  void WriteDone(bool ok);
  void Done(bool ok);
  void Finished(bool ok);
  // The call is destroyed with its last operation.
  void EndOperation();
  void CountEnd(const grpc::Status& status) const;

  Dispatcher& dispatcher_;
  QueueCalls& calls_;
  Queue& queue_;
  TagOf<ServerCall> arrived_{*this, &ServerCall::Arrived};
  TagOf<ServerCall> read_{*this, &ServerCall::ReadDone};
  TagOf<ServerCall> written_{*this, &ServerCall::WriteDone};
  TagOf<ServerCall> done_{*this, &ServerCall::Done};
  TagOf<ServerCall> finished_{*this, &ServerCall::Finished};
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  // Two are pending from the start: gRPC's notice that the call is done, and its end.
  std::atomic<int> operations_ = 2;
  grpc::ByteBuffer received_;
  Mutex mutex_;
  std::vector<std::function<void()>> handed_over_ TENURE_GUARDED_BY(mutex_);

  // Set before anybody else knows the call.
  const Method* method_ = nullptr;
  std::chrono::steady_clock::time_point began_at_;
  // Used on the queue's thread only.
  std::shared_ptr<CallHandler> handler_;
  std::optional<QueueCalls::Place> place_;  // once it has begun
  bool cancelled_ = false;
  bool unread_ = false;  // it ended without a request
};

}  // namespace tenure::wire
