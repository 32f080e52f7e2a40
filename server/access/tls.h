// TLS for the gRPC port.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace tenure::access {

enum class ClientCertificates { kRequired, kOptional };

// Paths of PEM files. A changed file is reloaded within a second. To change a certificate together
// with its key, replace the folder or the symbolic link in their paths.
struct TlsFiles {
  std::string certificate;  // the chain, the server's own first; empty: no TLS
  std::string key;
  std::string client_ca;  // empty: clients are not asked for a certificate
  ClientCertificates client_certificates = ClientCertificates::kRequired;
};

// The error is one sentence for the operator.
[[nodiscard]] tl::expected<std::shared_ptr<grpc::ServerCredentials>, std::string> ToCredentials(
    const TlsFiles& files);

// For connections to other replicas, which have certificates like this one. It looks at none, since
// replicas are reached by addresses that no certificate names, and nothing that they say is
// believed; and it shows its own where clients have to.
[[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> ToPeerCredentials(const TlsFiles& files);

}  // namespace tenure::access
