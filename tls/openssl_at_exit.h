// What becomes of OpenSSL when the process exits.
#pragma once

namespace tenure::tls {

// OpenSSL keeps its state until the process has ended. It otherwise frees it as soon as the process
// begins to exit, while gRPC's threads still make connections: they would crash. First of all in
// `main`.
void KeepOpenSslAtExit();

}  // namespace tenure::tls
