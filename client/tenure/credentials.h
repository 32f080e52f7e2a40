// Credentials of a service that wants TLS, client certificates or tokens. Whatever gRPC itself
// offers does as well: ClientOptions takes any grpc::ChannelCredentials.
#pragma once

#include <memory>
#include <string>

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace tenure {

// PEM files, each read anew within a second of a change. Change a certificate and its key together,
// by exchanging the folder or the link that they are reached by.
struct TlsOptions {
  // Who signs the service's certificate. Empty: those whom this machine trusts.
  std::string ca = {};
  // This process's own certificate, and its key. Empty: it shows none.
  std::string certificate = {};
  std::string key = {};
  // A file whose first line is sent with each call, as a bearer token, and is read anew each time.
  // Empty: none is sent.
  std::string token = {};
};

// May be shared by any number of clients. Throws std::invalid_argument if a file cannot be read, or
// if a certificate is given without its key.
[[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> TlsCredentials(const TlsOptions& options);

}  // namespace tenure
