// One Observe stream, for a thread that waits for its messages.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "client/cpp/io/connection.h"

namespace tenure {

// Thread-safe. Read and Finish are for one thread; every stream must be finished.
class ObserveStream : public grpc::ClientReadReactor<v1::ObserveResponse>,
                      public std::enable_shared_from_this<ObserveStream> {
 public:
  enum class Outcome { kMessage, kSilent, kEnded };
  struct Result {
    Outcome outcome;
    v1::ObserveResponse response = {};
  };

  static std::shared_ptr<ObserveStream> Open(Connection& connection, v1::ObserveRequest request);

  // Waits for the next message. If there is none, call Finish.
  [[nodiscard]] Result Read(std::chrono::milliseconds patience);
  void Cancel() { context_.TryCancel(); }
  // Cancels the stream if necessary, waits for its end, and returns why it ended.
  [[nodiscard]] grpc::Status Finish();

 private:
  ObserveStream(Connection& connection, v1::ObserveRequest request)
      : mark_(connection.Mark()), stub_(connection.stub()), request_(std::move(request)) {}

  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::shared_ptr<void> mark_;  // the first member: released last
  const std::shared_ptr<v1::ElectionService::Stub> stub_;
  const v1::ObserveRequest request_;
  std::shared_ptr<ObserveStream> self_;  // until OnDone
  grpc::ClientContext context_;
  v1::ObserveResponse response_;  // owned by gRPC while it reads

  Mutex mutex_;
  ConditionVariable changed_;
  bool reading_ TENURE_GUARDED_BY(mutex_) = false;
  bool read_ TENURE_GUARDED_BY(mutex_) = false;  // whether the last read returned a message
  std::optional<grpc::Status> status_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
