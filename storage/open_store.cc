#include "storage/open_store.h"

#include <charconv>
#include <optional>

#include "storage/mysql/mysql_store.h"
#include "storage/sqlite/sqlite_store.h"

namespace tenure {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kMySql = "mysql://";

// Anything between a ':' and the last '@' may be a password: such a URL is not shown.
bool MayHoldPassword(std::string_view url) {
  const size_t at = url.rfind('@');
  if (at == std::string_view::npos) return false;
  std::string_view before = url.substr(0, at);
  const size_t authority = before.find("//");
  if (authority != std::string_view::npos) before.remove_prefix(authority);
  return before.find(':') != std::string_view::npos;
}

tl::unexpected<std::string> Bad(std::string_view url, std::string_view why) {
  const std::string shown = MayHoldPassword(url) ? "the URL" : "'" + std::string(url) + "'";
  return tl::unexpected(shown + " is not a store: " + std::string(why));
}

// "host", "host:port" or "[v6]:port".
std::optional<mysql::Address> ParseAddress(std::string_view text) {
  mysql::Address address;
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const size_t colon = text.find(':', bracket);
  address.host = std::string(text.substr(0, colon));
  if (address.host.empty()) return std::nullopt;
  if (colon == std::string_view::npos) return address;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool whole = error == std::errc() && end == port.data() + port.size();
  if (!whole || address.port == 0) return std::nullopt;
  return address;
}

tl::expected<StoreLocation, std::string> ParseMySqlUrl(std::string_view url) {
  std::string_view rest = url.substr(kMySql.size());
  const size_t at = rest.find('@');
  if (at == std::string_view::npos || at == 0)
    return Bad(url, "the user is missing; write mysql://USER@HOST/DATABASE");
  mysql::Config config;
  config.user = std::string(rest.substr(0, at));
  if (config.user.find(':') != std::string::npos) {
    return tl::unexpected<std::string>(
        "the URL holds a password, which other users of this machine could read; put it into "
        "TENURE_STORE_PASSWORD or --store-password-file");
  }
  rest.remove_prefix(at + 1);
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash + 1 == rest.size()) {
    return Bad(url, "the database is missing; write mysql://USER@HOST/DATABASE");
  }
  config.database = std::string(rest.substr(slash + 1));
  rest = rest.substr(0, slash);
  while (true) {
    const size_t comma = rest.find(',');
    const auto address = ParseAddress(rest.substr(0, comma));
    if (!address)
      return Bad(url, "'" + std::string(rest.substr(0, comma)) + "' is not HOST[:PORT]");
    config.addresses.push_back(*address);
    if (comma == std::string_view::npos) return config;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

tl::expected<StoreLocation, std::string> ParseStoreUrl(std::string_view url) {
  if (url.starts_with(kMySql)) return ParseMySqlUrl(url);
  if (url.starts_with(kSqlite)) {
    const std::string_view path = url.substr(kSqlite.size());
    if (path.empty()) return Bad(url, "the path is missing; write sqlite:PATH or sqlite::memory:");
    return SqliteLocation{std::string(path)};
  }
  return Bad(url, "it must begin with sqlite: or mysql://");
}

Result<std::unique_ptr<Store>> OpenStore(const StoreLocation& location) {
  if (const auto* sqlite = std::get_if<SqliteLocation>(&location)) {
    return OpenSqliteStore(sqlite->path);
  }
  return OpenMySqlStore(std::get<mysql::Config>(location));
}

}  // namespace tenure
