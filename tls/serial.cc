#include "tls/serial.h"

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tenure::tls {
namespace {

constexpr size_t kDigitsMax = 40;  // RFC 5280: 20 octets

std::atomic<std::shared_ptr<const std::set<std::string>>>& Denied() {
  // Never destroyed: a handshake may still be under way when the process ends.
  static auto& denied = *new std::atomic<std::shared_ptr<const std::set<std::string>>>(
      std::make_shared<const std::set<std::string>>());
  return denied;
}

std::string TextOf(const ASN1_INTEGER* serial) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(ASN1_INTEGER_to_BN(serial, nullptr),
                                                           &BN_free);
  if (number == nullptr) return "";
  char* digits = BN_bn2hex(number.get());
  const std::string text = digits == nullptr ? "" : digits;
  OPENSSL_free(digits);
  return NormalSerial(text).value_or("");
}

// Moves `at` to the content of a value of this kind, which may end after `end`. False, and nothing
// has changed, if the value is of another kind.
bool Enter(const uint8_t*& at, const uint8_t* end, int tag, int type) {
  const uint8_t* inside = at;
  long length = 0;
  int found = 0, found_type = 0;
  ERR_set_mark();
  (void)ASN1_get_object(&inside, &length, &found, &found_type, end - at);
  ERR_pop_to_mark();
  if (inside == at || inside > end || found != tag || found_type != type) return false;
  at = inside;
  return true;
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
  return TextOf(X509_get0_serialNumber(certificate));
}

// The number is within the first bytes. Decoding the rest would take 0.1 ms.
std::optional<std::string> SerialOfPem(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----\n";
  constexpr size_t kCharacters = 64, kBytes = kCharacters / 4 * 3;  // the first line
  const size_t begin = pem.find(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view line = pem.substr(begin + kBegin.size(), kCharacters);
  std::array<uint8_t, kBytes> bytes{};
  if (line.size() < kCharacters ||
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const uint8_t*>(line.data()), kCharacters) !=
          static_cast<int>(kBytes)) {
    return std::nullopt;
  }
  // Certificate, TBSCertificate, [0] version, serialNumber (RFC 5280, 4.1).
  const uint8_t* at = bytes.data();
  const uint8_t* const end = at + bytes.size();
  if (!Enter(at, end, V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL) ||
      !Enter(at, end, V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL)) {
    return std::nullopt;
  }
  if (Enter(at, end, 0, V_ASN1_CONTEXT_SPECIFIC)) at += 3;  // an INTEGER of one byte
  const std::unique_ptr<ASN1_INTEGER, decltype(&ASN1_INTEGER_free)> number(
      at < end ? d2i_ASN1_INTEGER(nullptr, &at, end - at) : nullptr, &ASN1_INTEGER_free);
  if (number == nullptr) return std::nullopt;
  return TextOf(number.get());
}

void DenySerials(std::set<std::string> serials) {
  Denied().store(std::make_shared<const std::set<std::string>>(std::move(serials)));
}

bool IsDenied(const std::string& serial) { return Denied().load()->contains(serial); }

}  // namespace tenure::tls
