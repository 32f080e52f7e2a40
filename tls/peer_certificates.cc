#include "tls/peer_certificates.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

#include "tls/serial.h"

namespace tenure::tls {
namespace {

constexpr int kIpv4Bytes = 4;
constexpr int kIpv6Bytes = 16;

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

// Text has no NUL: some readers would see only the part before it.
bool IsText(const ASN1_STRING* string) {
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, string);
  if (size < 0) return false;
  const bool whole = std::string(text, text + size).find('\0') == std::string::npos;
  OPENSSL_free(text);
  return whole;
}

std::optional<std::string> FaultOfName(const GENERAL_NAME& name) {
  int type = 0;
  const void* value = GENERAL_NAME_get0_value(&name, &type);
  if (type == GEN_IPADD) {
    const int size = ASN1_STRING_length(static_cast<const ASN1_OCTET_STRING*>(value));
    if (size == kIpv4Bytes || size == kIpv6Bytes) return std::nullopt;
    return "an IP address of " + std::to_string(size) + " bytes";
  }
  if (type != GEN_DNS && type != GEN_EMAIL && type != GEN_URI) return std::nullopt;
  const auto* text = static_cast<const ASN1_IA5STRING*>(value);
  if (ASN1_STRING_length(text) == 0) return "an empty alternative name";
  if (!IsText(text)) return "an alternative name that is not text";
  return std::nullopt;
}

// Takes the place of X509_verify_cert, which it calls.
int Verify(X509_STORE_CTX* context, void* /*unused*/) {
  X509* const certificate = X509_STORE_CTX_get0_cert(context);
  const auto* const ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const int names_max = SSL_is_server(ssl) == 1 ? kAlternativeNamesMax : kAnyNumber;
  if (certificate == nullptr) return X509_verify_cert(context);
  const auto refuse = [&](int error) {
    X509_STORE_CTX_set_error(context, error);
    return 0;
  };
  if (FaultOf(certificate, names_max)) return refuse(X509_V_ERR_UNSUPPORTED_NAME_SYNTAX);
  // Only clients': servers' certificates may come from another authority, with the same numbers.
  const bool denied = SSL_is_server(ssl) == 1 && IsDenied(SerialOf(certificate));
  if (denied) return refuse(X509_V_ERR_CERT_REVOKED);
  return X509_verify_cert(context);
}

// OpenSSL calls this for each context that any library makes.
void OnNewContext(void* context, void*, CRYPTO_EX_DATA*, int, long, void*) {
  SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), &Verify, nullptr);
}

}  // namespace

std::optional<std::string> FaultOf(X509* certificate, int names_max) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    if (!IsText(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i))))
      return "a subject that is not text";
  }
  int found = 0;
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, &found, nullptr)));
  constexpr int kAbsent = -1;
  if (names == nullptr) {
    if (found == kAbsent) return std::nullopt;
    return "alternative names that are malformed, or given twice";
  }
  const int count = sk_GENERAL_NAME_num(names.get());
  if (count > names_max) {
    return std::to_string(count) + " alternative names; the maximum is " +
           std::to_string(names_max);
  }
  for (int i = 0; i < count; ++i) {
    if (auto fault = FaultOfName(*sk_GENERAL_NAME_value(names.get(), i))) return fault;
  }
  return std::nullopt;
}

void RefuseFaultyCertificates() {
  static const int registered =
      SSL_CTX_get_ex_new_index(0, nullptr, &OnNewContext, nullptr, nullptr);
  (void)registered;
}

}  // namespace tenure::tls
