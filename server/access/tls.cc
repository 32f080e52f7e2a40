#include "server/access/tls.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "server/access/read_file.h"
#include "server/log/log.h"
#include "tls/peer_certificates.h"

namespace tenure::access {
namespace {

constexpr unsigned kRefreshSeconds = 1;
constexpr auto kExpiresSoon = std::chrono::hours(14 * 24);

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
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;

Bio ReaderOf(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return {text, static_cast<size_t>(size)};
}

// All certificates in a file. A truncated one is an error.
tl::expected<std::vector<Certificate>, std::string> ParseCertificates(const std::string& text,
                                                                      const std::string& path) {
  ERR_clear_error();
  const Bio file = ReaderOf(text);
  std::vector<Certificate> all;
  while (Certificate next{PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr)}) {
    all.push_back(std::move(next));
  }
  const bool complete = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (all.empty()) return tl::unexpected(path + " holds no PEM certificate");
  if (!complete) {
    return tl::unexpected("certificate " + std::to_string(all.size() + 1) + " in " + path +
                          " is malformed");
  }
  return all;
}

Key ParseKey(const std::string& text) {
  const Bio file = ReaderOf(text);
  const auto no_password = [](char*, int, int, void*) { return 0; };
  Key key(PEM_read_bio_PrivateKey(file.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

// Why OpenSSL would not serve with these, such as a key that is too weak; empty if it would.
std::string RefusalOf(X509* certificate, EVP_PKEY* key) {
  const Context context(SSL_CTX_new(TLS_server_method()));
  const bool good = context != nullptr &&
                    SSL_CTX_use_certificate(context.get(), certificate) == 1 &&
                    SSL_CTX_use_PrivateKey(context.get(), key) == 1;
  const char* reason = good ? nullptr : ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  if (good) return "";
  return reason == nullptr ? "OpenSSL refuses it" : reason;
}

Tls::Time EndOf(const Certificate& certificate) {
  std::tm end{};
  ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end);
  return std::chrono::system_clock::from_time_t(timegm(&end));
}

std::string TextOf(Tls::Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[sizeof("2026-11-27T18:00:00Z") + 16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

void WriteCertificates(BIO* bio, const std::vector<Certificate>& certificates) {
  for (const Certificate& certificate : certificates) PEM_write_bio_X509(bio, certificate.get());
}

grpc_ssl_client_certificate_request_type RequestOf(const TlsFiles& files) {
  if (files.client_ca.empty()) return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return files.client_certificates == ClientCertificates::kRequired
             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

}  // namespace

tl::expected<std::unique_ptr<Tls>, std::string> Tls::Open(const TlsFiles& files) {
  std::unique_ptr<Tls> tls(new Tls(files));
  tls::RefuseFaultyCertificates();
  if (files.certificate.empty()) return tls;
  auto content = tls->Read();
  if (!content) return tl::unexpected(content.error());
  const auto published = tls->Publish(*content);
  if (!published) return tl::unexpected(published.error());
  tls->content_ = *std::move(content);
  return tls;
}

tl::expected<Tls::Content, std::string> Tls::Read() const {
  auto certificate = ReadFile(files_.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  auto key = ReadFile(files_.key);
  if (!key) return tl::unexpected(key.error());
  if (files_.client_ca.empty()) return Content{*std::move(certificate), *std::move(key), ""};
  auto client_ca = ReadFile(files_.client_ca);
  if (!client_ca) return tl::unexpected(client_ca.error());
  return Content{*std::move(certificate), *std::move(key), *std::move(client_ca)};
}

tl::expected<void, std::string> Tls::Publish(const Content& content) {
  const auto chain = ParseCertificates(content.certificate, files_.certificate);
  if (!chain) return tl::unexpected(chain.error());
  const Key key = ParseKey(content.key);
  if (key == nullptr) {
    return tl::unexpected(files_.key + " holds no PEM private key without a password");
  }
  if (X509_check_private_key(chain->front().get(), key.get()) != 1) {
    ERR_clear_error();
    return tl::unexpected(files_.key + " is not the private key of " + files_.certificate);
  }
  if (const auto fault = tls::FaultOf(chain->front().get(), tls::kAlternativeNamesMax)) {
    return tl::unexpected(files_.certificate + " cannot be used: it has " + *fault);
  }
  if (const auto refusal = RefusalOf(chain->front().get(), key.get()); !refusal.empty()) {
    return tl::unexpected(files_.certificate + " cannot be used: " + refusal);
  }
  const Bio identity(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(identity.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  WriteCertificates(identity.get(), *chain);
  if (!files_.client_ca.empty()) {
    const auto authorities = ParseCertificates(content.client_ca, files_.client_ca);
    if (!authorities) return tl::unexpected(authorities.error());
    const Bio client_ca(BIO_new(BIO_s_mem()));
    WriteCertificates(client_ca.get(), *authorities);
    const auto kept = client_ca_.Replace(TextOf(client_ca.get()));
    if (!kept) return kept;
  }
  const auto kept = identity_.Replace(TextOf(identity.get()));
  if (!kept) return kept;
  std::vector<Time> ends;
  for (const Certificate& certificate : *chain) ends.push_back(EndOf(certificate));
  expires_at_ = std::ranges::min(ends);
  logged_ = Validity::kLong;
  return {};
}

void Tls::WatchExpiry(Time now) {
  const Validity validity = now >= *expires_at_                  ? Validity::kOver
                            : now >= *expires_at_ - kExpiresSoon ? Validity::kShort
                                                                 : Validity::kLong;
  if (std::exchange(logged_, validity) == validity) return;
  if (validity == Validity::kOver) {
    LogError("the TLS certificate has expired: clients that check it refuse this replica",
             {{"file", files_.certificate}, {"expired", TextOf(*expires_at_)}});
  } else if (validity == Validity::kShort) {
    LogWarning("the TLS certificate expires soon",
               {{"file", files_.certificate}, {"expires", TextOf(*expires_at_)}});
  }
}

bool Tls::Refresh() {
  if (files_.certificate.empty()) return true;
  auto content = Read();
  const bool changed = !content || *content != content_;
  if (!changed && complaint_.empty()) {
    WatchExpiry(std::chrono::system_clock::now());
    return true;
  }
  const auto published = content ? Publish(*content) : tl::unexpected(content.error());
  const std::string complaint = published ? "" : published.error();
  const bool logged = std::exchange(complaint_, complaint) == complaint;
  if (published) {
    content_ = *std::move(content);
    LogInfo("TLS files reloaded");
  } else if (!logged) {
    LogError("the changed TLS files cannot be used, the previous ones stay in force",
             {{"error", complaint}});
  }
  return published.has_value();
}

std::shared_ptr<grpc::ServerCredentials> Tls::ForServer() const {
  if (files_.certificate.empty()) return grpc::InsecureServerCredentials();
  using namespace grpc::experimental;
  TlsServerCredentialsOptions options(std::make_shared<FileWatcherCertificateProvider>(
      identity_.path(), identity_.path(), files_.client_ca.empty() ? "" : client_ca_.path(),
      kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (!files_.client_ca.empty()) options.watch_root_certs();
  options.set_cert_request_type(RequestOf(files_));
  return TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> Tls::ForPeers() const {
  if (files_.certificate.empty()) return grpc::InsecureChannelCredentials();
  using namespace grpc::experimental;
  TlsChannelCredentialsOptions options;
  if (RequestOf(files_) == GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY) {
    options.set_certificate_provider(std::make_shared<FileWatcherCertificateProvider>(
        identity_.path(), identity_.path(), kRefreshSeconds));
    options.watch_identity_key_cert_pairs();
  }
  options.set_certificate_verifier(std::make_shared<NoOpCertificateVerifier>());
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  return TlsCredentials(options);
}

}  // namespace tenure::access
