#include "tests/support/certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <fstream>
#include <stdexcept>

namespace tenure::testing {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;

constexpr long kHour = 3600;

void Require(bool success) {
  if (!success) throw std::runtime_error("OpenSSL has failed");
}

Key NewKey() { return Key(EVP_EC_gen("P-256")); }

std::string TextOf(const Bio& bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

std::string PemOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Require(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return TextOf(bio);
}

std::string PemOf(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Require(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(bio);
}

void Extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  Require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Not signed yet.
Certificate Draft(const std::string& name, EVP_PKEY* key, std::chrono::seconds valid_for) {
  static std::atomic<long> serial = 1;
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid_for.count());
  if (!name.empty()) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  }
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

}  // namespace

struct CertificateAuthority::Holder {
  Key key = NewKey();
  Certificate certificate;
};

CertificateAuthority::CertificateAuthority(const std::string& name, const std::string& constraints)
    : holder_(std::make_unique<Holder>()) {
  holder_->certificate = Draft(name, holder_->key.get(), std::chrono::hours(1));
  X509* const own = holder_->certificate.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  Extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
  if (!constraints.empty()) Extend(own, own, NID_name_constraints, constraints);
  Require(X509_sign(own, holder_->key.get(), EVP_sha256()) != 0);
}

CertificateAuthority::~CertificateAuthority() = default;

std::string CertificateAuthority::certificate() const { return PemOf(holder_->certificate.get()); }

KeyPair CertificateAuthority::Issue(const std::string& name, const std::string& san,
                                    std::chrono::seconds valid_for) const {
  const Key key = NewKey();
  const Certificate certificate = Draft(name, key.get(), valid_for);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(holder_->certificate.get()));
  if (!san.empty()) {
    Extend(certificate.get(), holder_->certificate.get(), NID_subject_alt_name, san);
  }
  Require(X509_sign(certificate.get(), holder_->key.get(), EVP_sha256()) != 0);
  return {PemOf(certificate.get()), PemOf(key.get())};
}

void PublishFiles(const std::filesystem::path& link,
                  const std::map<std::string, std::string>& files) {
  static std::atomic<int> version = 0;
  const std::string suffix = "." + std::to_string(++version);
  const std::filesystem::path folder = link.string() + suffix;
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : files) std::ofstream(folder / name) << text;
  const std::filesystem::path new_link = link.string() + ".link" + suffix;
  std::filesystem::create_directory_symlink(folder, new_link);
  std::filesystem::rename(new_link, link);
}

}  // namespace tenure::testing
