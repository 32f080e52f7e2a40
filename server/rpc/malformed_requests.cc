#include "server/rpc/malformed_requests.h"

#include "server/rpc/refused.h"

namespace tenure::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

class Call final : public grpc::experimental::Interceptor {
 public:
  void Intercept(InterceptorBatchMethods* batch) override {
    const auto holds = [&](InterceptionHookPoints point) {
      return batch->QueryInterceptionHookPoint(point);
    };
    // gRPC could make no message of what it received.
    malformed_ |=
        holds(InterceptionHookPoints::POST_RECV_MESSAGE) && batch->GetRecvMessage() == nullptr;
    if (malformed_ && holds(InterceptionHookPoints::PRE_SEND_STATUS)) {
      batch->ModifySendStatus(ToStatus(MalformedRequest()));
    }
    batch->Proceed();
  }

 private:
  bool malformed_ = false;
};

}  // namespace

grpc::experimental::Interceptor* MalformedRequests::CreateServerInterceptor(ServerRpcInfo* info) {
  const bool one_request = info->type() == ServerRpcInfo::Type::UNARY ||
                           info->type() == ServerRpcInfo::Type::SERVER_STREAMING;
  return one_request ? new Call() : nullptr;
}

}  // namespace tenure::rpc
