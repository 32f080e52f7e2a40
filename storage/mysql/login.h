// One login to one server through the Connector, protected as the configuration asks.
// storage/mysql/logins.h remembers what later logins need.
#pragma once

#include <memory>
#include <string>

#include "storage/mysql/config.h"

namespace sql {
class Connection;
}

namespace tenure::mysql {

// The password to log in with now. Throws MySqlError.
[[nodiscard]] std::string PasswordOf(const Config& config);

// Throws MySqlError.
[[nodiscard]] std::unique_ptr<sql::Connection> LogIn(const Config& config, const Address& address,
                                                     const std::string& password);

}  // namespace tenure::mysql
