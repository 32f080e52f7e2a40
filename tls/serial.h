// Serial numbers of certificates, and the list that is denied in the handshake.
#pragma once

#include <openssl/x509.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tenure::tls {

// Reads a serial number as `openssl x509 -serial` and others write it: in hexadecimal digits, with
// or without colons. Equal numbers yield equal texts; nothing if it is no serial number.
[[nodiscard]] std::optional<std::string> NormalSerial(std::string_view text);

// In the form of `NormalSerial`.
[[nodiscard]] std::string SerialOf(const X509* certificate);
// Of the first certificate in PEM; nothing if there is none.
[[nodiscard]] std::optional<std::string> SerialOfPem(std::string_view pem);

// Replaces the list: from now on, TLS handshakes of this process (RefuseFaultyCertificates) refuse
// clients with one of these numbers. Thread-safe.
void DenySerials(std::set<std::string> serials);
[[nodiscard]] bool IsDenied(const std::string& serial);

}  // namespace tenure::tls
