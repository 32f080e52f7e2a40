// Clients that connect with TLS, but have no certificate.
#include <openssl/ssl.h>
#include <sys/resource.h>

#include <atomic>

#include "tests/hostile/attacker.h"
#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

constexpr int kDescriptors = 12'000;

// The first message of a TLS client.
std::string ClientHello() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), &SSL_free);
  const std::string protocol = "\x02h2";
  SSL_set_alpn_protos(tls.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                      static_cast<unsigned>(protocol.size()));
  BIO* sent = BIO_new(BIO_s_mem());
  SSL_set_bio(tls.get(), BIO_new(BIO_s_mem()), sent);  // owns both
  (void)SSL_connect(tls.get());
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(sent, &bytes);
  return {bytes, static_cast<size_t>(size)};
}

class HostileHandshakesTest : public HostileTlsTest {
 protected:
  void SetUp() override {
    if (!grpc::Version().ends_with("(patched)"))
      GTEST_SKIP() << "gRPC does not survive this without our patches: SECURITY.md";
    rlimit descriptors{};
    getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
    StartWithTls({}, kDescriptors);
  }
};

TEST_F(HostileHandshakesTest, HandshakesThatAreNeverFinished) {
  const std::string hello = ClientHello();
  std::vector<Descriptor> connections;
  for (int i = 0; i < 9'800; ++i) {
    Descriptor connection = ConnectTo(Server().endpoint(), "127.0.0." + std::to_string(2 + i % 4));
    if (!connection.valid()) continue;
    Send(connection, hello);
    connections.push_back(std::move(connection));
  }
  ASSERT_GT(connections.size(), 5'000u);
  Leader().AwaitRenewals(4);  // for more than its lease

  ExpectUnharmed();
}

TEST_F(HostileHandshakesTest, HandshakesThatAreBrokenOffOneAfterTheOther) {
  const std::string hello = ClientHello();
  const auto end = std::chrono::steady_clock::now() + 6s;
  std::atomic<size_t> begun = 0;
  std::vector<std::thread> attackers;
  for (const char* from : {"127.0.0.2", "127.0.0.3"}) {
    attackers.emplace_back([&, from] {
      while (std::chrono::steady_clock::now() < end) {
        const Descriptor connection = ConnectTo(Server().endpoint(), from);
        if (!connection.valid() || !Send(connection, hello)) continue;
        (void)ReceiveUntil(connection, "\x16\x03\x03");  // the server's first message
        ++begun;
      }
    });
  }
  for (std::thread& attacker : attackers) attacker.join();
  std::cout << begun << " connections" << std::endl;

  ExpectUnharmed();
}

}  // namespace
}  // namespace tenure::testing
