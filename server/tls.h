// TLS for the gRPC port.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace tenure {

enum class ClientCertificates { kRequired, kOptional };

// PEM files. Each is read anew within a second of a change: change the certificate and its key
// together, by exchanging the folder or the link that they are reached by.
struct TlsFiles {
  std::string certificate;  // the chain, the server's own first; empty: no TLS
  std::string key;
  std::string client_ca;  // empty: clients are not asked for a certificate
  ClientCertificates client_certificates = ClientCertificates::kRequired;
};

// The error is one sentence for the operator.
[[nodiscard]] tl::expected<std::shared_ptr<grpc::ServerCredentials>, std::string> ToCredentials(
    const TlsFiles& files);

}  // namespace tenure
