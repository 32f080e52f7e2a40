// Logs in, and remembers what was refused.
//
// A password that a server has refused is not sent to it again until it is another one, or a pause
// is over: servers lock accounts (max_password_errors, FAILED_LOGIN_ATTEMPTS) whose password is
// wrong too often. docs/engines.md has a table of the errors of logins, and what follows from each.
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

// The server cannot be reached, or is going away: nor can connections that it has accepted be used.
// After any other error of a login they can, whether the server has refused it, or it failed on our
// side, as without a password or DNS. Pure.
[[nodiscard]] bool ServerIsGone(const MySqlError& error);
// The server knows the user by another password, or not at all. Pure.
[[nodiscard]] bool PasswordIsRefused(const MySqlError& error);

class Logins {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Logins(Config config, std::function<Clock::time_point()> now = Clock::now)
      : config_(std::move(config)), now_(std::move(now)) {}

  [[nodiscard]] const Config& config() const { return config_; }

  // Throws MySqlError, also for what is remembered.
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
