// Reports this process to the service manager: ready, stopping, alive, and one line of status.
//
// This is the sender of sd_notify(3), whose datagrams are a stable interface of systemd's. See
// docs/adr/0022-service-manager.md for why libsystemd is not used. Without NOTIFY_SOCKET in the
// environment, every call does nothing. Not thread-safe: it belongs to the main thread.
#pragma once

#include <chrono>
#include <string>

#include "server/engine/work/scheduler.h"

namespace tenure::process {

class ServiceManager {
 public:
  // Reads the environment.
  ServiceManager();

  void Ready();
  void Stopping();
  // What `systemctl status` shows. Sent when it differs from what was sent last.
  void Status(const std::string& text);
  // A schema migration is about to run. It may take longer than any start should.
  void Migrating();
  // The main thread is alive, and the engine has made no progress for `stalled`. Call often: pings
  // the watchdog twice per interval, but not once the engine has stalled for half an interval.
  void Ping(engine::SteadyTime now, std::chrono::nanoseconds stalled);

 private:
  // False if it could not be sent: the next Ping or Status tries again. Logs the first failure.
  bool Send(const std::string& message);

  const std::string socket_;
  const std::chrono::microseconds watchdog_;  // zero: nobody watches
  bool reached_ = true;                       // by the last message
  bool ready_pending_ = false;
  std::string status_;
  engine::SteadyTime next_ping_;
};

}  // namespace tenure::process
