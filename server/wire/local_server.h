// A server in the test's own process.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "metrics/metrics.h"
#include "server/wire/dispatcher.h"
#include "server/wire/queue.h"

namespace tenure::wire {

class LocalServer {
 public:
  // Serves the services that `add` adds, which must outlive it.
  explicit LocalServer(const std::function<void(Dispatcher&)>& add,
                       std::chrono::milliseconds patience = kFirstMessagePatience)
      : dispatcher_(metrics_, {}, patience) {
    add(dispatcher_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    dispatcher_.RegisterWith(builder);
    queue_ = std::make_unique<Queue>(builder.AddCompletionQueue());
    server_ = builder.BuildAndStart();
    dispatcher_.Serve(*queue_);
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  // Ends all calls.
  ~LocalServer() { dispatcher_.ShutDown(*server_, std::chrono::system_clock::now()); }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::shared_ptr<grpc::Channel> Connect(
      const grpc::ChannelArguments& arguments = {}) const {
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }
  [[nodiscard]] Dispatcher& dispatcher() { return dispatcher_; }

 private:
  Metrics metrics_;
  Dispatcher dispatcher_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Queue> queue_;
  std::string address_;
};

}  // namespace tenure::wire
