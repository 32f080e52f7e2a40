#include <stdexcept>

#include "client/tool/commands.h"
#include "tls/pem_files.h"

namespace tenure {

std::shared_ptr<grpc::ChannelCredentials> CommonOptions::Credentials() const {
  if (!tls) return nullptr;
  for (const std::string& path : {tls_files.ca, tls_files.certificate}) {
    const auto fault = path.empty() ? std::nullopt : tls::FaultOfCertificates(path);
    if (fault) throw std::invalid_argument(*fault);
  }
  const auto fault = tls_files.key.empty() ? std::nullopt : tls::FaultOfKey(tls_files.key);
  if (fault) throw std::invalid_argument(*fault);
  return TlsCredentials(tls_files);
}

}  // namespace tenure
