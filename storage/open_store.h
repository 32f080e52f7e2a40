// Opens the store that a URL names.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

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
// decoded. Pure. The error is one sentence for the operator; a password in the URL is one, because
// `ps` shows it.
[[nodiscard]] tl::expected<StoreLocation, std::string> ParseStoreUrl(std::string_view url);

// Opens it. A MySQL server is only connected to by the first call. Errors: kStoreUnavailable.
[[nodiscard]] Result<std::unique_ptr<Store>> OpenStore(const StoreLocation& location);

}  // namespace tenure
