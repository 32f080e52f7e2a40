#include "client/cpp/io/observe_stream.h"

#include <utility>

namespace tenure {

std::shared_ptr<ObserveStream> ObserveStream::Open(Connection& connection,
                                                   v1::ObserveRequest request) {
  std::shared_ptr<ObserveStream> stream(new ObserveStream(connection, std::move(request)));
  stream->self_ = stream;
  connection.NameService(stream->context_);
  stream->stub_->async()->Observe(&stream->context_, &stream->request_, stream.get());
  stream->AddHold();  // Read starts operations outside reactions
  stream->StartCall();
  return stream;
}

ObserveStream::Result ObserveStream::Read(std::chrono::milliseconds patience) {
  {
    const MutexLock lock(mutex_);
    reading_ = true;
  }
  StartRead(&response_);
  MutexLock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (reading_ && changed_.WaitUntil(lock, until)) continue;
  if (reading_) return {Outcome::kSilent};
  if (!read_) return {Outcome::kEnded};
  return {Outcome::kMessage, std::move(response_)};
}

grpc::Status ObserveStream::Finish() {
  Cancel();
  RemoveHold();
  MutexLock lock(mutex_);
  while (!status_) changed_.Wait(lock);
  return *status_;
}

void ObserveStream::OnReadDone(bool ok) {
  const MutexLock lock(mutex_);
  reading_ = false;
  read_ = ok;
  changed_.NotifyAll();
}

void ObserveStream::OnDone(const grpc::Status& status) {
  const auto self = std::move(self_);  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  status_ = status;
  changed_.NotifyAll();
}

}  // namespace tenure
