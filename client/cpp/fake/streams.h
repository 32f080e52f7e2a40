// The open streams of the fake service.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "client/cpp/fake/service.h"
#include "proto/time.h"

namespace tenure {

// Sends messages one after another. Under the service's mutex, except in gRPC's reactions.
template <typename Shape, typename Response>
class Outgoing : public Shape {
 public:
  void Send(Response message) {
    if (ended_) return;
    ++sent_;
    messages_.push_back(std::move(message));
    if (messages_.size() == 1) this->StartWrite(&messages_.front());
  }
  // Messages that are not being written yet are dropped.
  void End(const grpc::Status& status) {
    if (std::exchange(ended_, true)) return;
    status_ = status;
    if (messages_.empty()) return this->Finish(status_);
    messages_.resize(1);
  }
  void Written() {
    messages_.pop_front();
    if (ended_) return this->Finish(status_);
    if (!messages_.empty()) this->StartWrite(&messages_.front());
  }

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] size_t sent() const { return sent_; }

 private:
  std::deque<Response> messages_;  // the first is being written
  size_t sent_ = 0;
  bool ended_ = false;
  grpc::Status status_;
};

class FakeService::Stream final
    : public Outgoing<grpc::ServerBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>,
                      v1::KeepAliveResponse> {
 public:
  explicit Stream(FakeService& service) : service_(service) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    const MutexLock lock(service_.mutex_);
    ++service_.activity_;
    if (!ok) return End(grpc::Status::OK);
    service_.Answer(request_, *this);
    StartRead(&request_);
  }
  void OnWriteDone(bool) override {
    const MutexLock lock(service_.mutex_);
    Written();
  }
  void OnCancel() override {
    const MutexLock lock(service_.mutex_);
    ++service_.activity_;
    End(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    {
      const MutexLock lock(service_.mutex_);
      service_.streams_.erase(this);
    }
    delete this;
  }

  std::optional<SessionId> session;  // renewed by this stream

 private:
  FakeService& service_;
  v1::KeepAliveRequest request_;
};

class FakeService::Watcher final
    : public Outgoing<grpc::ServerWriteReactor<v1::ObserveResponse>, v1::ObserveResponse> {
 public:
  Watcher(FakeService& service, v1::ObserveRequest request)
      : request(std::move(request)), service_(service) {}

  void OnWriteDone(bool) override {
    const MutexLock lock(service_.mutex_);
    Written();
  }
  void OnCancel() override {
    const MutexLock lock(service_.mutex_);
    End(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    {
      const MutexLock lock(service_.mutex_);
      service_.watchers_.erase(this);
    }
    delete this;
  }

  void Report(const v1::Event& event) {
    v1::ObserveResponse response;
    *response.mutable_event() = event;
    Send(std::move(response));
  }
  // All has been reported.
  void Progress(DbTime now) {
    v1::ObserveResponse response;
    *response.mutable_progress()->mutable_time() = ToProto(now);
    Send(std::move(response));
  }

  const v1::ObserveRequest request;

 private:
  FakeService& service_;
};

}  // namespace tenure
