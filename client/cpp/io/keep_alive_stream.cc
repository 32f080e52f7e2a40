#include "client/cpp/io/keep_alive_stream.h"

#include <utility>

namespace tenure {

std::shared_ptr<KeepAliveStream> KeepAliveStream::Open(Connection& connection, OnMessage message,
                                                       OnClosed closed) {
  std::shared_ptr<KeepAliveStream> stream(
      new KeepAliveStream(connection, std::move(message), std::move(closed)));
  stream->self_ = stream;
  connection.NameService(stream->context_);
  stream->stub_->async()->KeepAlive(&stream->context_, stream.get());
  stream->StartRead(&stream->response_);
  stream->AddHold();  // Send may start operations outside reactions
  stream->StartCall();
  return stream;
}

void KeepAliveStream::Send(v1::KeepAliveRequest request) {
  const MutexLock lock(mutex_);
  if (done_) return;
  requests_.push_back(std::move(request));
  if (std::exchange(writing_, true)) return;
  StartWrite(&requests_.front());
}

void KeepAliveStream::OnReadDone(bool ok) {
  if (ok) {
    message_(response_);
    StartRead(&response_);
    return;
  }
  const MutexLock lock(mutex_);
  if (!std::exchange(done_, true)) RemoveHold();
}

void KeepAliveStream::OnWriteDone(bool ok) {
  const MutexLock lock(mutex_);
  requests_.pop_front();
  writing_ = ok && !done_ && !requests_.empty();
  if (writing_) StartWrite(&requests_.front());
}

void KeepAliveStream::OnDone(const grpc::Status& status) {
  closed_(status);
  self_.reset();
}

}  // namespace tenure
