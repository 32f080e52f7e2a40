#include "storage/open_store.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "storage/mysql/open.h"
#include "storage/sqlite/open.h"

namespace tenure {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kMySql = "mysql://";

// Anything between a ':' and the last '@' may be a password: such a URL is not shown.
bool MayHoldPassword(std::string_view url) {
  const size_t at = url.rfind('@');
  if (at == std::string_view::npos) return false;
  std::string_view before = url.substr(0, at);
  const size_t colon = before.find(':');
  if (colon == std::string_view::npos) return false;
  before.remove_prefix(colon);
  return !before.starts_with("://") || before.find(':', 1) != std::string_view::npos;
}

// `part` says what is wrong, and quotes from the URL; `instead` does not quote.
tl::unexpected<std::string> Bad(std::string_view url, std::string_view part,
                                std::string_view instead) {
  const bool hidden = MayHoldPassword(url);
  const std::string shown = hidden ? "the URL" : "'" + std::string(url) + "'";
  return tl::unexpected(shown + " is not a store: " + std::string(hidden ? instead : part));
}

tl::unexpected<std::string> Bad(std::string_view url, std::string_view why) {
  return Bad(url, why, why);
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

constexpr std::pair<std::string_view, mysql::Tls::Mode> kTlsModes[] = {
    {"disabled", mysql::Tls::Mode::kDisabled},
    {"preferred", mysql::Tls::Mode::kPreferred},
    {"required", mysql::Tls::Mode::kRequired},
    {"verify-ca", mysql::Tls::Mode::kVerifyCa},
    {"verify-identity", mysql::Tls::Mode::kVerifyIdentity},
};

// Which parameters contradict each other; empty if none do.
std::string Contradiction(const mysql::Config& config) {
  using Mode = mysql::Tls::Mode;
  const mysql::Tls& tls = config.tls;
  const bool verified = tls.mode == Mode::kVerifyCa || tls.mode == Mode::kVerifyIdentity;
  if (!config.socket.empty()) {
    if (config.addresses.size() > 1) return "socket needs one host: write localhost";
    if (tls != mysql::Tls()) return "socket and tls exclude each other";
  }
  if (verified && tls.ca.empty()) return "tls=verify-ca and tls=verify-identity need tls-ca";
  if (!verified && !tls.ca.empty()) return "tls-ca needs tls=verify-ca or tls=verify-identity";
  if (tls.certificate.empty() != tls.key.empty()) return "tls-cert and tls-key need each other";
  if (!tls.certificate.empty() && tls.mode < Mode::kRequired) {
    return "tls-cert needs tls=required, verify-ca or verify-identity";
  }
  return "";
}

// Reads "tls=required&socket=/path". Returns what is wrong; empty if nothing is.
std::string ReadParameters(std::string_view text, mysql::Config& config) {
  std::map<std::string, std::string> given;
  while (!text.empty()) {
    const std::string_view parameter = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(parameter.size() + 1, text.size()));
    const size_t equals = parameter.find('=');
    const std::string name(parameter.substr(0, equals));
    if (equals == std::string_view::npos || equals + 1 == parameter.size()) {
      return "the parameter " + name + " has no value";
    }
    if (!given.emplace(name, parameter.substr(equals + 1)).second) {
      return "the parameter " + name + " is given twice";
    }
  }
  const std::pair<const char*, std::string*> paths[] = {{"tls-ca", &config.tls.ca},
                                                        {"tls-cert", &config.tls.certificate},
                                                        {"tls-key", &config.tls.key},
                                                        {"socket", &config.socket}};
  for (const auto& [name, value] : paths) {
    if (auto parameter = given.extract(name)) *value = parameter.mapped();
  }
  if (const auto parameter = given.extract("tls")) {
    const auto mode = std::ranges::find(kTlsModes, parameter.mapped(),
                                        &std::pair<std::string_view, mysql::Tls::Mode>::first);
    if (mode == std::end(kTlsModes)) {
      return "tls is disabled, preferred, required, verify-ca or verify-identity";
    }
    config.tls.mode = mode->second;
  }
  if (!given.empty()) return "the parameter " + given.begin()->first + " is unknown";
  return Contradiction(config);
}

tl::expected<StoreLocation, std::string> ParseMySqlUrl(std::string_view url) {
  std::string_view rest = url.substr(kMySql.size());
  // A user's name may hold an '@', and so may the path of a file.
  const size_t at = rest.substr(0, rest.find_first_of("/?")).rfind('@');
  mysql::Config config;
  if (at != std::string_view::npos) config.user = std::string(rest.substr(0, at));
  const bool password =
      config.user.empty() ? MayHoldPassword(url) : config.user.find(':') != std::string::npos;
  if (password) {
    return tl::unexpected<std::string>(
        "the URL holds a password, which other users of this machine could read; put it into "
        "TENURE_STORE_PASSWORD or --store-password-file");
  }
  if (config.user.empty()) {
    return Bad(url, "the user is missing; write mysql://USER@HOST/DATABASE");
  }
  rest.remove_prefix(at + 1);
  if (rest.ends_with('?') || rest.ends_with('&')) {
    return Bad(url, std::string("it ends with ") + rest.back());
  }
  const size_t question = rest.find('?');
  const std::string_view parameters =
      question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
  rest = rest.substr(0, question);
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash + 1 == rest.size()) {
    return Bad(url, "the database is missing; write mysql://USER@HOST/DATABASE");
  }
  config.database = std::string(rest.substr(slash + 1));
  rest = rest.substr(0, slash);
  while (true) {
    const size_t comma = rest.find(',');
    const auto address = ParseAddress(rest.substr(0, comma));
    if (!address) {
      return Bad(url, "'" + std::string(rest.substr(0, comma)) + "' is not HOST[:PORT]",
                 "a part is not HOST[:PORT]");
    }
    config.addresses.push_back(*address);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const std::string wrong = ReadParameters(parameters, config);
  if (!wrong.empty()) return Bad(url, wrong, "its parameters are wrong");
  return config;
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

std::vector<ServerReport> CheckServers(const StoreLocation& location, bool migrates) {
  if (const auto* mysql = std::get_if<mysql::Config>(&location))
    return mysql::CheckMySqlServers(*mysql, migrates);
  return {sqlite::CheckSqliteFile(std::get<SqliteLocation>(location).path, migrates)};
}

Result<std::unique_ptr<Store>> OpenStore(const StoreLocation& location) {
  if (const auto* sqlite = std::get_if<SqliteLocation>(&location)) {
    return sqlite::OpenSqliteStore(sqlite->path);
  }
  return mysql::OpenMySqlStore(std::get<mysql::Config>(location));
}

}  // namespace tenure
