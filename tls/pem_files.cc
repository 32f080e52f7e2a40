#include "tls/pem_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <filesystem>
#include <memory>
#include <system_error>

namespace tenure::tls {
namespace {

struct Free {
  void operator()(BIO* file) const { BIO_free(file); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

// `read` reads what the file must hold; `wanted` names it.
template <typename Read>
std::optional<std::string> FaultOf(const std::string& path, const char* wanted, Read read) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) {
    return path + " is a pipe; use a file, since it is read more than once";
  }
  const std::unique_ptr<BIO, Free> file(BIO_new_file(path.c_str(), "r"));
  const bool found = file != nullptr && read(file.get());
  ERR_clear_error();
  if (file == nullptr) return "cannot read " + path;
  if (!found) return path + " holds no " + wanted;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FaultOfCertificates(const std::string& path) {
  return FaultOf(path, "certificate", [](BIO* file) {
    return std::unique_ptr<X509, Free>(PEM_read_bio_X509_AUX(file, nullptr, nullptr, nullptr)) !=
           nullptr;
  });
}

std::optional<std::string> FaultOfKey(const std::string& path) {
  return FaultOf(path, "private key without a password", [](BIO* file) {
    const auto no_password = [](char*, int, int, void*) { return 0; };
    return std::unique_ptr<EVP_PKEY, Free>(
               PEM_read_bio_PrivateKey(file, nullptr, no_password, nullptr)) != nullptr;
  });
}

}  // namespace tenure::tls
