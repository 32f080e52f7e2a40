#include "tls/openssl_at_exit.h"

#include <openssl/crypto.h>

namespace tenure::tls {

void KeepOpenSslAtExit() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

}  // namespace tenure::tls
