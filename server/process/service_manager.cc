#include "server/process/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "server/log/log.h"

namespace tenure::process {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds kMigrationMax = 1h;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<int64_t> Number(const std::string& text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::chrono::microseconds WatchdogInterval() {
  const std::string pid = Variable("WATCHDOG_PID");
  if (!pid.empty() && Number(pid) != getpid()) return 0us;  // it watches another process
  return std::chrono::microseconds(Number(Variable("WATCHDOG_USEC")).value_or(0));
}

}  // namespace

ServiceManager::ServiceManager()
    : socket_(Variable("NOTIFY_SOCKET")), watchdog_(WatchdogInterval()) {}

void ServiceManager::Ready() { ready_pending_ = !Send("READY=1"); }

void ServiceManager::Stopping() { Send("STOPPING=1"); }

void ServiceManager::Status(const std::string& text) {
  if (status_ != text && Send("STATUS=" + text)) status_ = text;
}

void ServiceManager::Migrating() {
  Send("EXTEND_TIMEOUT_USEC=" + std::to_string(kMigrationMax.count()));
}

void ServiceManager::Ping(engine::SteadyTime now, std::chrono::nanoseconds stalled) {
  if (ready_pending_) Ready();
  if (watchdog_ <= 0us || now < next_ping_ || stalled > watchdog_ / 2) return;
  if (Send("WATCHDOG=1")) next_ping_ = now + watchdog_ / 2;
}

// Never waits: a service manager that does not read must not hold up elections.
bool ServiceManager::Send(const std::string& message) {
  if (socket_.empty()) return true;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const size_t size = std::min(socket_.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, socket_.data(), size);
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // an abstract address
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto sent = sendto(descriptor, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&address),
                           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
  const bool reached = std::exchange(reached_, sent >= 0);
  if (sent < 0 && reached) {
    LogWarning("cannot reach the service manager",
               {{"socket", socket_}, {"error", std::strerror(errno)}});
  }
  close(descriptor);
  return sent >= 0;
}

}  // namespace tenure::process
