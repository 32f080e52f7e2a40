#include "storage/mysql/logins.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenure::mysql {
namespace {

constexpr std::chrono::seconds kRefusedPauseMin{30};
constexpr std::chrono::seconds kRefusedPauseMax{600};

}  // namespace

bool ServerIsGone(const MySqlError& error) {
  switch (error.code) {
    case 1053:  // shutdown in progress
    case 1079:  // normal shutdown
    case 3032:  // offline mode, which ends the other connections, too
    case 2002:
    case 2003:  // nothing accepts connections there
    case 2006:
    case 2012:
    case 2013:
    case 2055:  // it does not answer, or has hung up
    case 5013:
    case 5014:  // MariaDB's client library: cannot read or write
      return true;
    default: return false;
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
