// A peer's certificate. If it is not refused, gRPC must be able to read what it reads of it:
// otherwise gRPC ends the process.
#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/fuzz/require.h"
#include "tls/peer_certificates.h"
#include "tls/serial.h"

namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Bytes = std::unique_ptr<BIO, decltype(&BIO_free)>;

void ReadText(const ASN1_STRING* string) {
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, string);
  Require(size >= 0, "a name is text");
  OPENSSL_free(text);
}

void ReadName(const GENERAL_NAME& name) {
  int type = 0;
  void* value = GENERAL_NAME_get0_value(&name, &type);
  if (type == GEN_DNS || type == GEN_EMAIL || type == GEN_URI) {
    ReadText(static_cast<ASN1_STRING*>(value));
  } else if (type == GEN_IPADD) {
    const auto* address = static_cast<const ASN1_STRING*>(value);
    const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
    Require(family == AF_INET || ASN1_STRING_length(address) == 16, "an address has its length");
    char text[INET6_ADDRSTRLEN];
    Require(inet_ntop(family, ASN1_STRING_get0_data(address), text, sizeof text) != nullptr,
            "an address can be written");
  }
}

void ReadNames(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  const int count = names == nullptr ? 0 : sk_GENERAL_NAME_num(names.get());
  Require(count <= tenure::tls::kAlternativeNamesMax, "there are not too many names");
  for (int i = 0; i < count; ++i) ReadName(*sk_GENERAL_NAME_value(names.get(), i));
}

void ReadSubject(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) {
    ReadText(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  }
  const Bytes text(BIO_new(BIO_s_mem()), &BIO_free);
  Require(X509_NAME_print_ex(text.get(), subject, 0, XN_FLAG_RFC2253) >= 0,
          "the subject can be written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* bytes = data;
  const Certificate certificate(d2i_X509(nullptr, &bytes, static_cast<long>(size)), &X509_free);
  if (certificate == nullptr) return 0;
  (void)tenure::tls::SerialOf(certificate.get());
  if (tenure::tls::FaultOf(certificate.get(), tenure::tls::kAlternativeNamesMax)) return 0;
  ReadSubject(certificate.get());
  ReadNames(certificate.get());
  const Bytes pem(BIO_new(BIO_s_mem()), &BIO_free);
  Require(PEM_write_bio_X509(pem.get(), certificate.get()) == 1, "it can be written as PEM");
  char* text = nullptr;
  const auto length = BIO_get_mem_data(pem.get(), &text);
  Require(tenure::tls::SerialOfPem({text, static_cast<size_t>(length)}).has_value(),
          "it has a serial number in PEM, too");
  return 0;
}
