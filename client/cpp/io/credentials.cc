#include "tenure/credentials.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tls/peer_certificates.h"
#include "tls/pem_files.h"

namespace tenure {
namespace {

constexpr unsigned kRefreshSeconds = 1;
// Open to everyone. gRPC watches it on each connection; after a failed watch, it may not use the
// connection for minutes.
constexpr char kHealthService[] = "/grpc.health.v1.Health";

void Require(const std::string& path,
             std::optional<std::string> (*fault_of)(const std::string& path)) {
  const auto fault = path.empty() ? std::nullopt : fault_of(path);
  if (fault) throw std::invalid_argument(*fault);
}

std::optional<std::string> FaultOfToken(const std::string& path) {
  if (std::ifstream(path)) return std::nullopt;
  return "cannot read " + path;
}

class TokenOfFile final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit TokenOfFile(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] bool IsBlocking() const override { return false; }
  [[nodiscard]] const char* GetType() const override { return "tenure-token"; }
  // Not the token itself.
  std::string DebugString() override { return "token of " + path_; }

  grpc::Status GetMetadata(grpc::string_ref service, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<std::string, std::string>* metadata) override {
    std::ifstream file(path_);
    std::string token;
    std::getline(file, token);
    token.erase(token.find_last_not_of(" \t\r") + 1);
    if (token.empty()) {
      if (service.ends_with(kHealthService)) return grpc::Status::OK;
      return {grpc::StatusCode::UNAUTHENTICATED, "the first line of " + path_ + " holds no token"};
    }
    metadata->emplace("authorization", "Bearer " + token);
    return grpc::Status::OK;
  }

 private:
  const std::string path_;
};

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> TlsCredentials(const TlsOptions& options) {
  if (options.certificate.empty() != options.key.empty()) {
    throw std::invalid_argument(
        "a client certificate and its private key need each other: give both or neither");
  }
  Require(options.ca, tls::FaultOfCertificates);
  Require(options.certificate, tls::FaultOfCertificates);
  Require(options.key, tls::FaultOfKey);
  Require(options.token, FaultOfToken);
  tls::RefuseFaultyCertificates();
  grpc::experimental::TlsChannelCredentialsOptions tls;
  if (!options.ca.empty() || !options.key.empty()) {
    tls.set_certificate_provider(
        std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
            options.key, options.certificate, options.ca, kRefreshSeconds));
  }
  if (!options.ca.empty()) tls.watch_root_certs();
  if (!options.key.empty()) tls.watch_identity_key_cert_pairs();
  auto credentials = grpc::experimental::TlsCredentials(tls);
  if (options.token.empty()) return credentials;
  return grpc::CompositeChannelCredentials(
      credentials,
      grpc::MetadataCredentialsFromPlugin(std::make_unique<TokenOfFile>(options.token)));
}

}  // namespace tenure
