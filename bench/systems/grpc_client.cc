#include "bench/systems/grpc_client.h"

#include <chrono>
#include <stdexcept>
#include <thread>

namespace tenure::bench {
namespace {

constexpr auto kConnectTimeout = std::chrono::seconds(10);

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // its own connection
  auto channel = grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
  // gRPC 1.51 sometimes takes a connection in progress for a failed one, and fails the call that
  // waits for it (its pull request 35064). This waits for the next attempt.
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + kConnectTimeout)) {
    throw std::runtime_error("cannot connect to " + endpoint);
  }
  return channel;
}

}  // namespace

grpc::CompletionQueue& Queue() {
  static auto* const queue = [] {
    auto* const made = new grpc::CompletionQueue();  // gRPC's threads may outlive main
    std::thread([made] {
      void* tag = nullptr;
      bool ok = false;
      while (made->Next(&tag, &ok)) static_cast<Tag*>(tag)->Completed(ok);
    }).detach();
    return made;
  }();
  return *queue;
}

Connections::Connections(std::string endpoint) : endpoint_(std::move(endpoint)) {
  for (auto& channel : shared_) channel = OpenChannel(endpoint_);
}

std::shared_ptr<grpc::Channel> Connections::For(const CandidateOptions& options) {
  return options.own_connection ? OpenChannel(endpoint_) : Shared();
}

std::shared_ptr<grpc::Channel> Connections::Shared() { return shared_[next_++ % kShared]; }

std::string ErrorText(const grpc::Status& status, const std::string& call) {
  return call + ": " + std::to_string(status.error_code()) + " " + status.error_message();
}

void Require(const grpc::Status& status, const std::string& call) {
  if (!status.ok()) throw std::runtime_error(ErrorText(status, call));
}

}  // namespace tenure::bench
