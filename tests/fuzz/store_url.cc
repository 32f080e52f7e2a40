// The URL of a store. An accepted URL is complete, and an error never repeats what may be a
// password: here, the word `hunter2`.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "storage/open_store.h"
#include "tests/fuzz/require.h"

namespace tenure {
namespace {

constexpr std::string_view kPassword = "hunter2";

// Whether the word stands between a ':', other than the scheme's, and the last '@'.
bool HoldsPassword(std::string_view url) {
  std::string_view login = url.substr(0, std::min(url.rfind('@'), url.size()));
  if (login.size() == url.size()) return false;
  const size_t scheme = login.find("://");
  if (scheme != std::string_view::npos && scheme == login.find(':'))
    login.remove_prefix(scheme + 3);
  const size_t colon = login.find(':');
  return colon != std::string_view::npos && login.find(kPassword, colon) != std::string_view::npos;
}

void Check(const mysql::Config& config) {
  using Mode = mysql::Tls::Mode;
  const mysql::Tls& tls = config.tls;
  Require(!config.user.empty() && config.user.find(':') == std::string::npos, "a user");
  Require(config.password.empty() && config.password_file.empty(), "no password");
  Require(!config.database.empty(), "a database");
  Require(!config.addresses.empty(), "an address");
  for (const mysql::Address& address : config.addresses) {
    Require(!address.host.empty() && address.port != 0, "a host and a port");
    Require(address.host.find_first_of("@/,?") == std::string::npos, "a host only");
  }
  Require(tls.ca.empty() == (tls.mode < Mode::kVerifyCa), "what is verified, is by a CA");
  Require(tls.certificate.empty() == tls.key.empty(), "a certificate has its key");
  Require(tls.certificate.empty() || tls.mode >= Mode::kRequired, "a certificate is used");
  Require(config.socket.empty() || (tls == mysql::Tls() && config.addresses.size() == 1),
          "a socket is local");
}

void TryUrl(std::string_view url) {
  const auto location = ParseStoreUrl(url);
  if (!location) {
    Require(!location.error().empty(), "an error says something");
    Require(!HoldsPassword(url) || location.error().find(kPassword) == std::string::npos,
            "an error does not repeat a password");
  } else if (const auto* mysql = std::get_if<mysql::Config>(&*location)) {
    Check(*mysql);
  } else {
    Require(!std::get<SqliteLocation>(*location).path.empty(), "a path");
  }
}

}  // namespace
}  // namespace tenure

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenure::TryUrl({reinterpret_cast<const char*>(data), size});
  return 0;
}
