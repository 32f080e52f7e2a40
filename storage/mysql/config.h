// Where a MySQL or MariaDB server is, and how to log in to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace tenure::mysql {

struct Address {
  std::string host;
  uint16_t port = 3306;

  bool operator==(const Address&) const = default;
};

// How the connection is protected. The modes are those of MySQL's own clients (--ssl-mode).
struct Tls {
  enum class Mode {
    kDisabled,
    kPreferred,       // encrypted if the server offers it; nothing is verified
    kRequired,        // encrypted, or refused; nothing is verified
    kVerifyCa,        // required, and the server's certificate is signed by `ca`
    kVerifyIdentity,  // and it is for the host of the URL
  };

  Mode mode = Mode::kPreferred;
  // Paths of PEM files, read for each connection, so that they may be replaced at any time.
  std::string ca;           // empty unless something is verified
  std::string certificate;  // of this client; empty: none
  std::string key;          // of `certificate`

  bool operator==(const Tls&) const = default;
};

struct Config {
  std::vector<Address> addresses;  // tried in order; a read-only server is skipped
  std::string socket;              // path of a local server's socket, instead of the addresses
  std::string user;
  std::string password;
  std::string password_file;  // read for each connection; empty: `password`
  std::string database;
  Tls tls;
  size_t connections_max = 8;
};

// Why a login cannot use these files now, in one line; nothing if it can.
[[nodiscard]] std::optional<std::string> FaultOfFiles(const Tls& tls);

// The first line of a file. The error is the reason, in one line.
[[nodiscard]] tl::expected<std::string, std::string> ReadPassword(const std::string& file);

}  // namespace tenure::mysql
