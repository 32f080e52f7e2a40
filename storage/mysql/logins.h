// Logs in, and remembers what was refused.
//
// A password that a server has refused is not sent to it again until it changes, or a pause has
// ended: servers lock accounts after too many wrong passwords (max_password_errors,
// FAILED_LOGIN_ATTEMPTS). docs/engines.md lists the errors of logins, and what follows from each.
//
// One caller at a time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "storage/mysql/config.h"
#include "storage/mysql/connection.h"

namespace tenure::mysql {

// Whether the server cannot be reached, or is going away: then its open connections are of no use
// either. After any other login error they stay usable, whether the server refused the login or it
// failed on our side, for example without a password or DNS. Pure.
[[nodiscard]] bool ServerIsGone(const MySqlError& error);
// Whether the server has another password for the user, or does not know the user. Pure.
[[nodiscard]] bool PasswordIsRefused(const MySqlError& error);

class Logins {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Logins(Config config, std::function<Clock::time_point()> now = Clock::now)
      : config_(std::move(config)), now_(std::move(now)) {}

  [[nodiscard]] const Config& config() const { return config_; }

  // Throws MySqlError, also for a remembered refusal.
  std::unique_ptr<Connection> LogIn(const Address& address);

 private:
  struct Refused {
    std::string password;
    std::string message;
    int code = 0;
    std::chrono::seconds pause{};
    Clock::time_point until;
  };

  const Config config_;
  const std::function<Clock::time_point()> now_;
  std::map<std::pair<std::string, uint16_t>, Refused> refused_;  // by address
};

}  // namespace tenure::mysql
