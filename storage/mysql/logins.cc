#include "storage/mysql/logins.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenure::mysql {
namespace {

constexpr std::chrono::seconds kRefusedPauseMin{30};
constexpr std::chrono::seconds kRefusedPauseMax{600};

}  // namespace

bool ServerIsThere(const MySqlError& error) {
  switch (error.code) {
    case 1053:  // shutdown in progress
    case 1079:  // normal shutdown
    case 3032:  // offline mode, which ends the other connections, too
      return false;
    case 2026:  // TLS failed, as after a certificate has expired
    case 2054:
    case 2058:
    case 2059:
    case 2061:
    case 5010:  // the way to log in that it asks for is not there, not allowed, or failed
      return true;
    default:
      // Other numbers from 2000 to 2999, and above 5000, are the client library's own.
      return (error.code >= 1000 && error.code < 2000) || (error.code >= 3000 && error.code < 5000);
  }
}

bool PasswordIsRefused(const MySqlError& error) { return error.code == 1045 || error.code == 1698; }

std::unique_ptr<Connection> Logins::LogIn(const Address& address) {
  const std::string password = PasswordOf(config_);
  const auto key = std::pair(address.host, address.port);
  const auto refused = refused_.find(key);
  if (refused != refused_.end() && refused->second.password == password &&
      now_() < refused->second.until) {
    throw MySqlError(MySqlError::Kind::kAway, refused->second.code, refused->second.message);
  }
  try {
    auto connection = std::make_unique<Connection>(config_, address, password);
    refused_.erase(key);
    return connection;
  } catch (const MySqlError& error) {
    if (!PasswordIsRefused(error)) throw;
    const bool again = refused != refused_.end() && refused->second.password == password;
    const auto pause =
        again ? std::min(2 * refused->second.pause, kRefusedPauseMax) : kRefusedPauseMin;
    const std::string message = fmt::format(
        "{}; it is not sent again for {} s{}", error.what(), pause.count(),
        config_.password_file.empty() ? "" : " unless " + config_.password_file + " changes");
    refused_[key] = {password, message, error.code, pause, now_() + pause};
    throw MySqlError(MySqlError::Kind::kAway, error.code, message);
  }
}

}  // namespace tenure::mysql
