#include "server/access/tls.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <utility>

namespace tenure::access {
namespace {

constexpr unsigned kRefreshSeconds = 1;

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

Bio Open(const std::string& path) { return Bio(BIO_new_file(path.c_str(), "r")); }

tl::expected<Certificate, std::string> ReadCertificate(const std::string& path) {
  const Bio file = Open(path);
  if (file == nullptr) return tl::unexpected("cannot read " + path);
  Certificate certificate(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return tl::unexpected(path + " holds no PEM certificate");
  return certificate;
}

// What gRPC itself would find out at the first handshake.
tl::expected<void, std::string> Check(const TlsFiles& files) {
  const auto certificate = ReadCertificate(files.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  const Bio file = Open(files.key);
  if (file == nullptr) return tl::unexpected("cannot read " + files.key);
  const auto no_password = [](char*, int, int, void*) { return 0; };
  const Key key(PEM_read_bio_PrivateKey(file.get(), nullptr, no_password, nullptr));
  if (key == nullptr)
    return tl::unexpected(files.key + " holds no PEM private key without a password");
  if (X509_check_private_key(certificate->get(), key.get()) != 1) {
    return tl::unexpected(files.key + " is not the private key of " + files.certificate);
  }
  if (files.client_ca.empty()) return {};
  const auto authority = ReadCertificate(files.client_ca);
  if (!authority) return tl::unexpected(authority.error());
  return {};
}

grpc_ssl_client_certificate_request_type RequestOf(const TlsFiles& files) {
  if (files.client_ca.empty()) return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return files.client_certificates == ClientCertificates::kRequired
             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

}  // namespace

tl::expected<std::shared_ptr<grpc::ServerCredentials>, std::string> ToCredentials(
    const TlsFiles& files) {
  if (files.certificate.empty()) return grpc::InsecureServerCredentials();
  const auto checked = Check(files);
  if (!checked) return tl::unexpected(checked.error());
  using grpc::experimental::FileWatcherCertificateProvider;
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<FileWatcherCertificateProvider>(files.key, files.certificate,
                                                       files.client_ca, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (!files.client_ca.empty()) options.watch_root_certs();
  options.set_cert_request_type(RequestOf(files));
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ToPeerCredentials(const TlsFiles& files) {
  if (files.certificate.empty()) return grpc::InsecureChannelCredentials();
  using namespace grpc::experimental;
  TlsChannelCredentialsOptions options;
  if (RequestOf(files) == GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY) {
    options.set_certificate_provider(std::make_shared<FileWatcherCertificateProvider>(
        files.key, files.certificate, kRefreshSeconds));
    options.watch_identity_key_cert_pairs();
  }
  options.set_certificate_verifier(std::make_shared<NoOpCertificateVerifier>());
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  return TlsCredentials(options);
}

}  // namespace tenure::access
