#include "server/wire/server_call.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>

#include "proto/status.h"
#include "server/wire/dispatcher.h"

namespace tenure::wire {
namespace {

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message) {
  grpc::Slice bytes(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(bytes.begin()));
  return {&bytes, 1};
}

bool Parse(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  grpc::ProtoBufferReader reader(&bytes);
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

}  // namespace

void ServerCall::Await(Dispatcher& dispatcher, QueueCalls& calls) {
  auto* call = new ServerCall(dispatcher, calls);
  grpc::ServerCompletionQueue& queue = calls.queue().get();
  call->context_.AsyncNotifyWhenDone(call->done_.get());
  dispatcher.service_.RequestCall(&call->context_, &call->stream_, &queue, &queue,
                                  call->arrived_.get());
}

ServerCall::ServerCall(Dispatcher& dispatcher, QueueCalls& calls)
    : dispatcher_(dispatcher), calls_(calls), queue_(calls.queue()) {
  ++dispatcher_.calls_;
  ++dispatcher_.awaited_;
}

ServerCall::~ServerCall() {
  if (--dispatcher_.calls_ > 0) return;
  const MutexLock lock(dispatcher_.mutex_);
  dispatcher_.no_calls_.NotifyAll();
}

template <typename Start>
void ServerCall::HandOver(Start start) {
  if (queue_.IsCurrent()) {
    RunHandedOver();
    return start();
  }
  bool first = false;
  {
    const MutexLock lock(mutex_);
    first = handed_over_.empty();
    handed_over_.push_back(std::move(start));
    if (first) ++operations_;  // until it has run
  }
  if (first) queue_.Post(*this);
}

void ServerCall::RunHandedOver() {
  std::vector<std::function<void()>> handed_over;
  {
    const MutexLock lock(mutex_);
    handed_over.swap(handed_over_);
  }
  for (const auto& start : handed_over) start();
}

void ServerCall::Run() {
  RunHandedOver();
  EndOperation();
}

void ServerCall::Arrived(bool ok) {
  if (ok) Await(dispatcher_, calls_);
  --dispatcher_.awaited_;
  if (!ok) {  // the server is shut down
    delete this;
    return;
  }
  began_at_ = std::chrono::steady_clock::now();
  method_ = dispatcher_.Find(context_.method());
  if (method_ == nullptr) {
    return Finish({grpc::StatusCode::UNIMPLEMENTED, "this server has no such method"});
  }
  place_ = calls_.Join(*this);
  if (method_->counts != nullptr) method_->counts->started->Increment();
  if (method_->begin_stream) return method_->begin_stream(*this);
  Read();
}

void ServerCall::ServeWith(std::shared_ptr<CallHandler> handler) {
  handler_ = std::move(handler);
  if (cancelled_) handler_->OnCancelled();
}

bool ServerCall::Receive(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) const {
  const bool parsed = Parse(bytes, message);
  bytes.Clear();
  if (parsed && method_->counts != nullptr) method_->counts->received->Increment();
  return parsed;
}

void ServerCall::Read() {
  ++operations_;
  HandOver([this] { stream_.Read(&received_, read_.get()); });
}

void ServerCall::Write(const google::protobuf::MessageLite& message) {
  ++operations_;
  if (method_->counts != nullptr) method_->counts->sent->Increment();
  HandOver([this, bytes = Serialize(message)] { stream_.Write(bytes, written_.get()); });
}

void ServerCall::Finish(const grpc::Status& status) {
  CountEnd(status);
  HandOver([this, status] { stream_.Finish(status, finished_.get()); });
}

void ServerCall::Answer(const google::protobuf::MessageLite& message) {
  if (method_->counts != nullptr) method_->counts->sent->Increment();
  CountEnd(grpc::Status::OK);
  HandOver([this, bytes = Serialize(message)] {
    stream_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status::OK, finished_.get());
  });
}

void ServerCall::ReadDone(bool ok) {
  if (place_) calls_.Speak(*place_);
  if (handler_ != nullptr) {
    handler_->OnRead(ok ? &received_ : nullptr);
  } else if (ok) {
    began_at_ = std::chrono::steady_clock::now();
    method_->begin(*this, received_);
  } else {
    unread_ = true;
    HandOver([this] { stream_.Finish(ToStatus(MalformedRequest()), finished_.get()); });
  }
  EndOperation();
}

void ServerCall::WriteDone(bool ok) {
  if (handler_ != nullptr) handler_->OnWritten(ok);
  EndOperation();
}

void ServerCall::Done(bool /*ok*/) {
  cancelled_ = context_.IsCancelled();
  if (cancelled_ && handler_ != nullptr) handler_->OnCancelled();
  EndOperation();
}

void ServerCall::Finished(bool /*ok*/) { EndOperation(); }

void ServerCall::EndOperation() {
  if (--operations_ > 0) return;
  if (place_) calls_.Leave(*place_);
  // gRPC may have refused the request itself, for example for its size, and told the client.
  if (unread_) CountEnd(cancelled_ ? grpc::Status::CANCELLED : ToStatus(MalformedRequest()));
  if (handler_ != nullptr) handler_->OnEnd();
  delete this;
}

void ServerCall::CountEnd(const grpc::Status& status) const {
  if (method_ == nullptr || method_->counts == nullptr) return;
  dispatcher_.counts_.CountEnd(*method_->counts, began_at_, status);
}

}  // namespace tenure::wire
