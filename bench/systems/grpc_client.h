// Shared by the clients of Tenure and of etcd, so that neither has an advantage.
#pragma once

#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>

#include "bench/systems/system.h"

namespace tenure::bench {

// The connections to one endpoint. Thread-safe.
class Connections {
 public:
  explicit Connections(std::string endpoint);

  // A new connection, or one of the shared ones.
  [[nodiscard]] std::shared_ptr<grpc::Channel> For(const CandidateOptions& options);
  // One of the shared connections.
  [[nodiscard]] std::shared_ptr<grpc::Channel> Shared();

 private:
  static constexpr size_t kShared = 32;

  const std::string endpoint_;
  std::array<std::shared_ptr<grpc::Channel>, kShared> shared_;
  std::atomic<size_t> next_ = 0;
};

inline constexpr auto kCallPatience = std::chrono::seconds(30);

// The text for a failed call.
[[nodiscard]] std::string ErrorText(const grpc::Status& status, const std::string& call);
// Throws if a call failed.
void Require(const grpc::Status& status, const std::string& call);

// Makes a call, `call(context)`, and returns when it is answered. Waits for a connection, too.
// Throws if the call fails.
template <typename Call>
void MakeCall(const std::string& name, const Call& call) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  Require(call(context), name);
}

// Handles the end of an operation on the queue below. Must live until then.
class Tag {
 public:
  virtual void Completed(bool ok) = 0;

 protected:
  ~Tag() = default;
};

// The completion queue of all calls of all systems. One thread polls it and runs the handlers: two
// threads would hand the polling to each other, and make the generator slower than the systems that
// it measures. Lives as long as the process.
[[nodiscard]] grpc::CompletionQueue& Queue();

// A unary call. Must live until it has ended.
template <typename Response>
class UnaryCall final : public Tag {
 public:
  using Ended = std::function<void(const grpc::Status&, const Response&)>;

  UnaryCall() = default;
  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  // Call it once. `prepare(context, request, queue)` makes the call; `ended` is called on the
  // queue's thread.
  template <typename Request, typename Prepare>
  void Begin(const Request& request, const Prepare& prepare, Ended ended) {
    ended_ = std::move(ended);
    reader_ = prepare(&context_, request, &Queue());
    reader_->StartCall();
    reader_->Finish(&response_, &status_, static_cast<Tag*>(this));
  }

  [[nodiscard]] grpc::ClientContext& context() { return context_; }

  void Completed(bool /*ok*/) override {
    const Ended ended = std::move(ended_);  // it may own this object
    ended(status_, response_);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
  Response response_;
  grpc::Status status_;
  Ended ended_;
};

// Begins a unary call with `prepare(context, request, queue)`. When it succeeds, `done` gets the
// result of `then(response)`: an error or nothing.
template <typename Response, typename Request, typename Prepare, typename Then>
void BeginCall(const std::string& name, const Request& request, const Prepare& prepare, Then then,
               Done done) {
  const auto call = std::make_shared<UnaryCall<Response>>();
  call->context().set_deadline(std::chrono::system_clock::now() + kCallPatience);
  call->Begin(request, prepare,
              [call, name, then = std::move(then), done = std::move(done)](
                  const grpc::Status& status, const Response& response) {
                done(status.ok() ? then(response) : ErrorText(status, name));
              });
}

// A long unary call. The destructor cancels the call, and waits for its end.
template <typename Request, typename Response>
class WaitingCall {
 public:
  // Begins the call with `prepare(context, request, queue)`; `done` is called on another thread.
  template <typename Prepare>
  WaitingCall(const Request& request, const Prepare& prepare,
              std::function<void(const grpc::Status&, const Response&)> done) {
    call_->Begin(request, prepare,
                 [call = call_, ended = ended_, done = std::move(done)](const grpc::Status& status,
                                                                        const Response& response) {
                   done(status, response);
                   ended->release();
                 });
  }
  ~WaitingCall() {
    call_->context().TryCancel();
    ended_->acquire();
  }
  WaitingCall(const WaitingCall&) = delete;
  WaitingCall& operator=(const WaitingCall&) = delete;

 private:
  const std::shared_ptr<UnaryCall<Response>> call_ = std::make_shared<UnaryCall<Response>>();
  const std::shared_ptr<std::binary_semaphore> ended_ = std::make_shared<std::binary_semaphore>(0);
};

// A stream on which each request is answered before the next one is sent. The destructor cancels
// the stream, and waits for its end.
template <typename Request, typename Response>
class Conversation {
 public:
  // Whether a response is the expected answer; nothing if it is to be ignored.
  using Accept = std::function<std::optional<bool>(const Response&)>;

  // Opens the stream with `prepare(context, queue)`.
  template <typename Prepare>
  Conversation(std::string name, const Prepare& prepare, Accept accept)
      : name_(std::move(name)), accept_(std::move(accept)), stream_(prepare(&context_, &Queue())) {
    stream_->StartCall(begun_.tag());
  }
  // REQUIRES: no request is unanswered.
  ~Conversation() {
    context_.TryCancel();
    stream_->Finish(&status_, finished_.tag());
    ended_.acquire();
    ended_.acquire();
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void Ask(Request request, Done done) {
    request_ = std::move(request);
    done_ = std::move(done);
    left_ = 2;
    accepted_ = true;
    if (std::exchange(asked_, true) || begun_or_asked_.test_and_set()) Send();
  }

 private:
  // Calls a member function when the operation completes.
  class Operation final : public Tag {
   public:
    using Handle = void (Conversation::*)(bool ok);
    Operation(Conversation& owner, Handle handle) : owner_(owner), handle_(handle) {}
    [[nodiscard]] void* tag() { return static_cast<Tag*>(this); }
    void Completed(bool ok) override { (owner_.*handle_)(ok); }

   private:
    Conversation& owner_;
    const Handle handle_;
  };

  // The first request is sent when the stream has begun and Ask was called, in either order.
  void OnBegun(bool /*ok*/) {
    if (begun_or_asked_.test_and_set()) Send();
    ended_.release();
  }

  void Send() {
    stream_->Read(&response_, read_.tag());
    stream_->Write(request_, written_.tag());
  }

  void OnEnd(bool /*ok*/) { ended_.release(); }

  void OnRead(bool ok) {
    const auto accepted = ok ? accept_(response_) : std::optional(false);
    if (!accepted) return stream_->Read(&response_, read_.tag());
    OnHalf(*accepted);
  }

  void OnHalf(bool ok) {
    if (!ok) accepted_ = false;
    if (--left_ > 0) return;
    const Done done = std::move(done_);
    done(accepted_ ? "" : name_ + " failed");
  }

  const std::string name_;
  const Accept accept_;
  Operation begun_{*this, &Conversation::OnBegun};
  Operation read_{*this, &Conversation::OnRead};
  Operation written_{*this, &Conversation::OnHalf};
  Operation finished_{*this, &Conversation::OnEnd};
  grpc::ClientContext context_;
  const std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream_;
  Request request_;
  Response response_;
  grpc::Status status_;
  Done done_;
  bool asked_ = false;
  std::atomic_flag begun_or_asked_;
  int left_ = 0;  // the write and the read that have not completed
  bool accepted_ = true;
  std::counting_semaphore<2> ended_{0};  // the start and the end of the stream
};

}  // namespace tenure::bench
