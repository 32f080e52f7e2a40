#include "tls/serial.h"

#include <openssl/bn.h>
#include <openssl/pem.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace tenure::tls {
namespace {

constexpr size_t kDigitsMax = 40;  // RFC 5280: 20 octets

std::atomic<std::shared_ptr<const std::set<std::string>>>& Denied() {
  static std::atomic<std::shared_ptr<const std::set<std::string>>> denied{
      std::make_shared<const std::set<std::string>>()};
  return denied;
}

}  // namespace

std::optional<std::string> NormalSerial(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == ':') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    digits += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (digits.empty()) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  if (digits.size() > kDigitsMax) return std::nullopt;
  return digits;
}

std::string SerialOf(const X509* certificate) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr), &BN_free);
  if (number == nullptr) return "";
  char* digits = BN_bn2hex(number.get());
  const std::string text = digits == nullptr ? "" : digits;
  OPENSSL_free(digits);
  return NormalSerial(text).value_or("");
}

std::optional<std::string> SerialOfPem(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr), &X509_free);
  if (certificate == nullptr) return std::nullopt;
  return SerialOf(certificate.get());
}

void DenySerials(std::set<std::string> serials) {
  Denied().store(std::make_shared<const std::set<std::string>>(std::move(serials)));
}

bool IsDenied(const std::string& serial) { return Denied().load()->contains(serial); }

}  // namespace tenure::tls
