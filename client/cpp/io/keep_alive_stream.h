// One KeepAlive stream, as a source of messages.
#pragma once

#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <memory>

#include "base/mutex.h"
#include "client/cpp/io/connection.h"

namespace tenure {

// Thread-safe. The callbacks run on gRPC's threads, one at a time; none follows `closed`.
class KeepAliveStream : public grpc::ClientBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>,
                        public std::enable_shared_from_this<KeepAliveStream> {
 public:
  using OnMessage = std::function<void(const v1::KeepAliveResponse&)>;
  using OnClosed = std::function<void(const grpc::Status&)>;

  // The stream lives until either side closes it.
  static std::shared_ptr<KeepAliveStream> Open(Connection& connection, OnMessage message,
                                               OnClosed closed);

  void Send(v1::KeepAliveRequest request);
  void Close() { context_.TryCancel(); }

 private:
  KeepAliveStream(Connection& connection, OnMessage message, OnClosed closed)
      : mark_(connection.Mark()),
        stub_(connection.stub()),
        message_(std::move(message)),
        closed_(std::move(closed)) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::shared_ptr<void> mark_;  // the first member: released last
  const std::shared_ptr<v1::ElectionService::Stub> stub_;
  const OnMessage message_;
  const OnClosed closed_;
  std::shared_ptr<KeepAliveStream> self_;  // until OnDone
  grpc::ClientContext context_;
  v1::KeepAliveResponse response_;

  Mutex mutex_;
  bool writing_ TENURE_GUARDED_BY(mutex_) = false;
  bool done_ TENURE_GUARDED_BY(mutex_) = false;
  std::deque<v1::KeepAliveRequest> requests_ TENURE_GUARDED_BY(mutex_);  // the first is in flight
};

}  // namespace tenure
