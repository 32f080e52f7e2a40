// What the clients of Tenure and of etcd have in common, so that neither has a better one.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/client_callback.h>

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

  // A new one, or one of those that are shared.
  [[nodiscard]] std::shared_ptr<grpc::Channel> For(const CandidateOptions& options);
  // One of those that are shared.
  [[nodiscard]] std::shared_ptr<grpc::Channel> Shared();

 private:
  static constexpr size_t kShared = 32;

  const std::string endpoint_;
  std::array<std::shared_ptr<grpc::Channel>, kShared> shared_;
  std::atomic<size_t> next_ = 0;
};

inline constexpr auto kCallPatience = std::chrono::seconds(30);

// Of a call that failed.
[[nodiscard]] std::string ErrorText(const grpc::Status& status, const std::string& call);
// Throws if a call failed.
void Require(const grpc::Status& status, const std::string& call);

// Makes a call that returns when it is answered: `call(context)`. Waits for a connection, too.
// Throws if it fails.
template <typename Call>
void MakeCall(const std::string& name, const Call& call) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  Require(call(context), name);
}

// Begins a unary call by `start(context, request, response, on_done)`. It ends with
// `then(response)`, which returns an error or nothing, which `done` gets.
template <typename Response, typename Request, typename Start, typename Then>
void BeginCall(const std::string& name, Request request, const Start& start, Then then, Done done) {
  struct Call {
    grpc::ClientContext context;
    Request request;
    Response response;
  };
  const auto call = std::make_shared<Call>();
  call->context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  call->request = std::move(request);
  start(&call->context, &call->request, &call->response,
        [call, name, then = std::move(then), done = std::move(done)](const grpc::Status& status) {
          done(status.ok() ? then(call->response) : ErrorText(status, name));
        });
}

// A unary call that waits for long. Destroying it cancels the call, and waits for its end.
template <typename Request, typename Response>
class WaitingCall {
 public:
  // Begins it by `start(context, request, response, on_done)`; `done` comes on another thread.
  template <typename Start>
  WaitingCall(Request request, const Start& start,
              std::function<void(const grpc::Status&, const Response&)> done)
      : request_(std::move(request)), done_(std::move(done)) {
    start(&context_, &request_, &response_, [this, ended = ended_](const grpc::Status& status) {
      done_(status, response_);
      ended->release();
    });
  }
  ~WaitingCall() {
    context_.TryCancel();
    ended_->acquire();
  }
  WaitingCall(const WaitingCall&) = delete;
  WaitingCall& operator=(const WaitingCall&) = delete;

 private:
  grpc::ClientContext context_;
  const Request request_;
  Response response_;
  const std::function<void(const grpc::Status&, const Response&)> done_;
  const std::shared_ptr<std::binary_semaphore> ended_ = std::make_shared<std::binary_semaphore>(0);
};

// A stream on which each request is answered before the next one is sent. Destroying it cancels the
// stream, and waits for its end.
template <typename Request, typename Response>
class Conversation : public grpc::ClientBidiReactor<Request, Response> {
 public:
  // Whether a response is the answer that was waited for; nothing if it is to be passed over.
  using Accept = std::function<std::optional<bool>(const Response&)>;

  // Opens it by `start(context, reactor)`.
  template <typename Start>
  Conversation(std::string name, const Start& start, Accept accept)
      : name_(std::move(name)), accept_(std::move(accept)) {
    start(&context_, this);
    this->AddHold();  // operations are begun from outside
    this->StartCall();
  }
  ~Conversation() override {
    context_.TryCancel();
    this->RemoveHold();
    ended_.acquire();
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void Ask(Request request, Done done) {
    request_ = std::move(request);
    done_ = std::move(done);
    left_ = 2;
    accepted_ = true;
    this->StartRead(&response_);
    this->StartWrite(&request_);
  }

 private:
  void OnWriteDone(bool ok) override { OnHalf(ok); }

  void OnReadDone(bool ok) override {
    const auto accepted = ok ? accept_(response_) : std::optional(false);
    if (!accepted) return this->StartRead(&response_);
    OnHalf(*accepted);
  }

  void OnHalf(bool ok) {
    if (!ok) accepted_ = false;
    if (--left_ > 0) return;
    const Done done = std::move(done_);
    done(accepted_ ? "" : name_ + " failed");
  }

  void OnDone(const grpc::Status& /*status*/) override { ended_.release(); }

  const std::string name_;
  const Accept accept_;
  grpc::ClientContext context_;
  Request request_;
  Response response_;
  Done done_;
  std::atomic<int> left_ = 0;  // of the write and the read
  std::atomic<bool> accepted_ = true;
  std::binary_semaphore ended_{0};
};

}  // namespace tenure::bench
