// Finds out more about an endpoint that cannot be used, where gRPC does not say enough.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "client/cpp/machine/trouble.h"

namespace tenure {

// What is wrong with the endpoint, without its name: the trouble's own text, or more. Opens its own
// connections. Blocks for about a second at most.
[[nodiscard]] std::string Diagnose(const std::string& endpoint,
                                   const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                   const Trouble& trouble);

}  // namespace tenure
