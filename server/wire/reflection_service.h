// gRPC's reflection service (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md):
// describes the server's services, in v1 and v1alpha, which differ only in name.
#pragma once

#include <functional>

#include "server/wire/dispatcher.h"
#include "server/wire/places.h"

namespace tenure::wire {

// Must outlive the server and its queues.
class ReflectionService {
 public:
  using MayAsk = std::function<Result<void>(const grpc::ServerContextBase&)>;

  // Answers callers that `may_ask` admits.
  ReflectionService(Dispatcher& dispatcher, MayAsk may_ask);

 private:
  class Stream;

  void ServerReflectionInfo(ServerCall& call);

  const Dispatcher& dispatcher_;
  const MayAsk may_ask_;
  Places streams_;
};

}  // namespace tenure::wire
