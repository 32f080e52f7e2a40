// gRPC's reflection service (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md):
// describes the server's services, in v1 and v1alpha, which differ only in name.
#pragma once

#include <atomic>

#include "server/wire/dispatcher.h"

namespace tenure::wire {

// Must outlive the server and its queues.
class ReflectionService {
 public:
  explicit ReflectionService(Dispatcher& dispatcher);

 private:
  class Stream;

  void ServerReflectionInfo(ServerCall& call);

  const Dispatcher& dispatcher_;
  std::atomic<int> streams_ = 0;
};

}  // namespace tenure::wire
