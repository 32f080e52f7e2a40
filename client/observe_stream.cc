#include "client/observe_stream.h"

#include <utility>

namespace tenure {

std::shared_ptr<ObserveStream> ObserveStream::Open(Connection& connection,
                                                   v1::ObserveRequest request) {
  std::shared_ptr<ObserveStream> stream(new ObserveStream(connection, std::move(request)));
  stream->self_ = stream;
  stream->stub_->async()->Observe(&stream->context_, &stream->request_, stream.get());
  stream->AddHold();  // Read starts operations from outside of reactions
  stream->StartCall();
  return stream;
}

ObserveStream::Result ObserveStream::Read(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    reading_ = true;
  }
  StartRead(&response_);
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [this] { return !reading_; })) return {Outcome::kSilent};
  if (!read_) return {Outcome::kEnded};
  return {Outcome::kMessage, std::move(response_)};
}

grpc::Status ObserveStream::Finish() {
  Cancel();
  RemoveHold();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return status_.has_value(); });
  return *status_;
}

void ObserveStream::OnReadDone(bool ok) {
  const std::lock_guard lock(mutex_);
  reading_ = false;
  read_ = ok;
  changed_.notify_all();
}

void ObserveStream::OnDone(const grpc::Status& status) {
  const auto self = std::move(self_);  // longer than the lock
  const std::lock_guard lock(mutex_);
  status_ = status;
  changed_.notify_all();
}

}  // namespace tenure
