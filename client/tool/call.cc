#include "client/tool/call.h"

#include <chrono>
#include <thread>

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
constexpr auto kAttemptPatience = 2s;  // then the next replica's turn has come

}  // namespace

grpc::Status Persist(Connection& connection,
                     const std::function<grpc::Status(grpc::ClientContext*)>& attempt) {
  const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    grpc::ClientContext context;
    const auto patience = std::min<std::chrono::steady_clock::duration>(
        give_up_at - std::chrono::steady_clock::now(), kAttemptPatience);
    context.set_deadline(std::chrono::system_clock::now() + patience);
    const grpc::Status status = connection.Connect() ? attempt(&context) : Unreachable();
    if (status.ok()) {
      connection.Succeeded();
      return status;
    }
    const auto pause = connection.Backoff();
    if (!IsTransient(status) || std::chrono::steady_clock::now() + pause >= give_up_at) {
      return status;
    }
    connection.MoveOn();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tenure
