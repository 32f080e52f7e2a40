// Serial numbers of certificates, and those that are denied in the handshake.
#pragma once

#include <openssl/x509.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tenure::tls {

// As `openssl x509 -serial` writes it, and as others do: in hexadecimal digits, with colons or
// without. All that mean the same number become the same text; nothing if it is no serial number.
[[nodiscard]] std::optional<std::string> NormalSerial(std::string_view text);

// In the same form.
[[nodiscard]] std::string SerialOf(const X509* certificate);
// Of the first certificate in PEM; nothing if there is none.
[[nodiscard]] std::optional<std::string> SerialOfPem(std::string_view pem);

// From now on, TLS handshakes of this process (RefuseFaultyCertificates) refuse peers that show one
// of these, and no others. Thread-safe.
void DenySerials(std::set<std::string> serials);
[[nodiscard]] bool IsDenied(const std::string& serial);

}  // namespace tenure::tls
