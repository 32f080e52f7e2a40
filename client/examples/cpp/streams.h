// The two streams of the service. gRPC's threads fill them, one thread of ours takes out.
//
// To destroy a stream cancels it, and waits until gRPC has let it go.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "replicas.h"

inline void Sleep(std::stop_token stop, nanoseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

// What has come and is not taken yet, and at last how the stream has ended. Thread-safe.
template <typename Message>
class Mailbox {
 public:
  void Put(Message message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    changed_.notify_all();
  }

  void End(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  }

  // Comes back without a message if there is none for so long, or at once if there will be none.
  std::optional<Message> Take(std::stop_token stop, nanoseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, patience, [this] { return !messages_.empty() || status_; });
    if (messages_.empty()) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

  std::optional<grpc::Status> status() {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  void AwaitEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return status_.has_value(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Message> messages_;
  std::optional<grpc::Status> status_;
};

class ObserveStream : public grpc::ClientReadReactor<pb::ObserveResponse> {
 public:
  ObserveStream(Replicas::Service service, pb::ObserveRequest request)
      : service_(std::move(service)), request_(std::move(request)) {
    service_->async()->Observe(&context_, &request_, this);
    StartRead(&response_);
    StartCall();
  }

  ~ObserveStream() override {
    context_.TryCancel();
    mailbox_.AwaitEnd();
  }

  const Replicas::Service& service() const { return service_; }
  Mailbox<pb::ObserveResponse>& mailbox() { return mailbox_; }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return;
    mailbox_.Put(std::move(response_));
    StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override { mailbox_.End(status); }

  const Replicas::Service service_;
  const pb::ObserveRequest request_;
  grpc::ClientContext context_;
  pb::ObserveResponse response_;
  Mailbox<pb::ObserveResponse> mailbox_;
};

class KeepAliveStream
    : public grpc::ClientBidiReactor<pb::KeepAliveRequest, pb::KeepAliveResponse> {
 public:
  explicit KeepAliveStream(Replicas::Service service) : service_(std::move(service)) {
    service_->async()->KeepAlive(&context_, this);
    StartRead(&response_);
    AddHold();  // Send starts writes from a thread that is not gRPC's
    StartCall();
  }

  ~KeepAliveStream() override {
    context_.TryCancel();
    mailbox_.AwaitEnd();
  }

  const Replicas::Service& service() const { return service_; }
  Mailbox<pb::KeepAliveResponse>& mailbox() { return mailbox_; }

  // Never waits. If it fails, the stream ends.
  void Send(pb::KeepAliveRequest request) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    requests_.push_back(std::move(request));
    if (requests_.size() == 1) StartWrite(&requests_.front());
  }

 private:
  void OnReadDone(bool ok) override {
    if (ok) {
      mailbox_.Put(std::move(response_));
      StartRead(&response_);
      return;
    }
    const std::lock_guard lock(mutex_);
    closed_ = true;
    RemoveHold();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    requests_.pop_front();
    if (ok && !closed_ && !requests_.empty()) StartWrite(&requests_.front());
  }
  void OnDone(const grpc::Status& status) override { mailbox_.End(status); }

  const Replicas::Service service_;
  grpc::ClientContext context_;
  pb::KeepAliveResponse response_;
  Mailbox<pb::KeepAliveResponse> mailbox_;

  std::mutex mutex_;
  bool closed_ = false;                        // guarded by mutex_
  std::deque<pb::KeepAliveRequest> requests_;  // guarded by mutex_; the first is being written
};
