// Credentials for a service that uses TLS, client certificates or tokens. Any other
// grpc::ChannelCredentials can be used in ClientOptions as well.
#pragma once

#include <memory>
#include <string>

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace tenure {

// Paths of PEM files. A changed file is reloaded within a second. To change a certificate together
// with its key, replace the folder or the symbolic link in their paths.
struct TlsOptions {
  // CA bundle that the service's certificate must chain to. Empty: the CAs that this machine
  // trusts.
  std::string ca = {};
  // Client certificate and its private key. Empty: none is presented.
  std::string certificate = {};
  std::string key = {};
  // File whose first line is sent with each call as a bearer token; read again for each call.
  // Empty: no token is sent.
  std::string token = {};
};

// Can be shared by any number of clients. Throws std::invalid_argument if a file cannot be read, or
// holds no certificate or key, or if a certificate is given without its key.
[[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> TlsCredentials(const TlsOptions& options);

}  // namespace tenure
