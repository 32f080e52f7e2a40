// OpenSSL while the process exits.
#pragma once

namespace tenure::tls {

// Makes OpenSSL keep its state until the process has ended. By default, it frees the state as soon
// as the process begins to exit, and gRPC's threads, which still make connections, would crash.
// Call it first in `main`.
void KeepOpenSslAtExit();

}  // namespace tenure::tls
