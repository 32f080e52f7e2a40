// Finds faults in PEM files that a TLS library would accept, only to fail every handshake.
#pragma once

#include <optional>
#include <string>

namespace tenure::tls {

// One sentence for the operator, with the path; nothing if the file can be read and holds a
// certificate.
[[nodiscard]] std::optional<std::string> FaultOfCertificates(const std::string& path);
// Like FaultOfCertificates, for a private key, which must not need a password.
[[nodiscard]] std::optional<std::string> FaultOfKey(const std::string& path);

}  // namespace tenure::tls
