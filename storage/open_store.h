// Opens the store that a URL names.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/mysql/config.h"
#include "storage/store.h"

namespace tenure {

struct SqliteLocation {
  std::string path;  // or ":memory:"
};

using StoreLocation = std::variant<SqliteLocation, mysql::Config>;

// Reads `sqlite:PATH`, `sqlite::memory:` or
// `mysql://user@host[:port][,host2[:port]...]/database[?name=value[&name=value]...]`, with the
// parameters `tls`, `tls-ca`, `tls-cert`, `tls-key` and `socket`, as they are written: nothing is
// decoded. The user ends at the last '@' before the '/'. Pure. The error is one sentence for the
// operator; a password in the URL is one, because `ps` shows it.
[[nodiscard]] tl::expected<StoreLocation, std::string> ParseStoreUrl(std::string_view url);

// Opens the store. Only the first call connects to a MySQL server. Errors: kStoreUnavailable.
[[nodiscard]] Result<std::unique_ptr<Store>> OpenStore(const StoreLocation& location);

// What operators need to know about a server of the store's URL.
struct ServerReport {
  std::string address;
  std::string name;     // of the engine; empty if it could not be found out
  std::string refusal;  // why it must not be used; empty: it may
  std::vector<std::string> warnings;
  // Why tenured would not serve there although the server may be used: its schema, or rights.
  std::vector<std::string> faults = {};
  ForeignTables foreign = {};
  std::string session_key = {};  // empty if there is none yet
};
// Asks each server, or inspects the file, for a program that `migrates` or does not. Changes
// nothing.
[[nodiscard]] std::vector<ServerReport> CheckServers(const StoreLocation& location, bool migrates);

}  // namespace tenure
