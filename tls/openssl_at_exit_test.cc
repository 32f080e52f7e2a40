#include "tls/openssl_at_exit.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cstdlib>

namespace tenure::tls {
namespace {

constexpr int kNoContext = 3;

[[nodiscard]] bool CanMakeContext() {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_free(context);
  return context != nullptr;
}

TEST(OpenSslAtExitTest, AConnectionCanBeginWhileTheProcessExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own
  EXPECT_EXIT(
      {
        // Registered before OpenSSL's own exit handler, so it runs after that.
        std::atexit([] {
          if (!CanMakeContext()) _exit(kNoContext);
        });
        KeepOpenSslAtExit();
        std::exit(CanMakeContext() ? EXIT_SUCCESS : kNoContext);
      },
      ::testing::ExitedWithCode(EXIT_SUCCESS), "");
}

}  // namespace
}  // namespace tenure::tls
