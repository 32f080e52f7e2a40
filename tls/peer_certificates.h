// Refuses some peer certificates in the handshake even if their authority is trusted.
//
// Once a peer's chain is verified, gRPC copies the names in its certificate, and aborts the process
// if it cannot (as of 1.51 and 1.56): an IP address of 5 bytes is enough. So the names are checked
// before that, as part of OpenSSL's own verification.
#pragma once

#include <openssl/x509.h>

#include <limits>
#include <optional>
#include <string>

namespace tenure::tls {

// A client's certificate has at most this many subject alternative names. Each is copied for each
// connection, and compared for each call.
inline constexpr int kAlternativeNamesMax = 256;
inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

// Why the certificate is refused; nothing if its names may be used.
[[nodiscard]] std::optional<std::string> FaultOf(X509* certificate, int names_max = kAnyNumber);

// Makes every TLS handshake of this process refuse such certificates, as server and as client; a
// client accepts any number of names. Affects only contexts created later. Further calls do
// nothing. Thread-safe.
void RefuseFaultyCertificates();

}  // namespace tenure::tls
