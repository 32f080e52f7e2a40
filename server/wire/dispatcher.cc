#include "server/wire/dispatcher.h"

#include "proto/status.h"

namespace tenure::wire {
namespace {

// How many calls each queue is ready to accept. If more arrive at once, the rest wait briefly
// inside gRPC: each call that begins is replaced.
constexpr int kAwaitedCalls = 64;

}  // namespace

Error MalformedRequest() {
  return {Reason::kMalformedRequest,
          "the request is not a message of this call: its protobuf is malformed, or a string in it "
          "is not UTF-8"};
}

void Refuse(ServerCall& call, const Error& error) { call.Finish(ToStatus(error)); }

void Dispatcher::Serve(Queue& queue) {
  QueueCalls& calls =
      *calls_of_queues_.emplace_back(std::make_unique<QueueCalls>(queue, patience_));
  for (int i = 0; i < kAwaitedCalls; ++i) ServerCall::Await(*this, calls);
  queue.Start();
}

void Dispatcher::Cancel(const QueueCalls::Which& which) {
  for (const auto& calls : calls_of_queues_) calls->Cancel(which);
}

void Dispatcher::ShutDown(grpc::Server& server, std::chrono::system_clock::time_point deadline) {
  server.Shutdown(deadline);
  MutexLock lock(mutex_);
  while (calls_ > 0) no_calls_.Wait(lock);
  for (const auto& calls : calls_of_queues_) calls->Stop();
}

Method& Dispatcher::Add(const google::protobuf::ServiceDescriptor& service,
                        const std::string& method) {
  services_.insert(service.full_name());
  const std::string path = "/" + service.full_name() + "/" + method;
  Method& added = methods_[path];
  added.counts = counts_.Find(path);
  return added;
}

Result<void> Dispatcher::CheckSize(const ServerCall& call, size_t bytes,
                                   const LargeRequests& large) {
  if (bytes <= kRequestBytesMax) return {};
  if (bytes > large.bytes_max) {
    return tl::unexpected(Error{Reason::kMalformedRequest, "the request is larger than " +
                                                               std::to_string(large.bytes_max) +
                                                               " bytes, so it cannot be valid"});
  }
  return large.may_send(call.context());
}

const Method* Dispatcher::Find(const std::string& path) const {
  const auto method = methods_.find(path);
  return method == methods_.end() ? nullptr : &method->second;
}

}  // namespace tenure::wire
