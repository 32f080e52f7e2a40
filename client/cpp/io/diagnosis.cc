#include "client/cpp/io/diagnosis.h"

#include <netdb.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "client/cpp/io/connection.h"
#include "client/cpp/machine/endpoints.h"
#include "tls/peer_certificates.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr timeval kSocketPatience{.tv_sec = 0, .tv_usec = 300'000};  // for each read and write
constexpr int kReadsMax = 64;                                        // of one handshake
constexpr auto kCallPatience = 500ms;

template <typename Value, void (*kFree)(Value*)>
struct Freed {
  void operator()(Value* value) const { kFree(value); }
};
template <typename Value, void (*kFree)(Value*)>
using Owned = std::unique_ptr<Value, Freed<Value, kFree>>;

// A TCP connection, if one can be made.
class Socket {
 public:
  explicit Socket(const HostAndPort& to) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found) != 0) return;
    const Owned<addrinfo, freeaddrinfo> addresses(found);
    for (const addrinfo* address = found; address != nullptr && socket_ < 0;
         address = address->ai_next) {
      Connect(*address);
    }
  }
  ~Socket() { Close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool Send(const char* bytes, size_t size) const {
    return send(socket_, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
  }
  ssize_t Receive(char* bytes, size_t size) const { return recv(socket_, bytes, size, 0); }

 private:
  void Connect(const addrinfo& address) {
    socket_ = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kSocketPatience, sizeof kSocketPatience);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kSocketPatience, sizeof kSocketPatience);
    if (connect(socket_, address.ai_addr, address.ai_addrlen) != 0) Close();
  }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

  int socket_ = -1;
};

// The bytes go through memory: if OpenSSL wrote to a closed socket itself, it would raise SIGPIPE.
bool Handshake(SSL* ssl, BIO* incoming, BIO* outgoing, const Socket& socket) {
  for (int reads = 0; reads < kReadsMax; ++reads) {
    const int done = SSL_do_handshake(ssl);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(outgoing, &bytes);
    if (size > 0 && !socket.Send(bytes, static_cast<size_t>(size))) return false;
    (void)BIO_reset(outgoing);
    if (done == 1) return true;
    if (SSL_get_error(ssl, done) != SSL_ERROR_WANT_READ) return false;
    char received[4096];
    const ssize_t count = socket.Receive(received, sizeof received);
    if (count <= 0) return false;
    BIO_write(incoming, received, static_cast<int>(count));
  }
  return false;
}

std::string Text(const ASN1_TIME* time) {
  const Owned<BIO, BIO_free_all> memory(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(memory.get(), time);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// What is wrong with the endpoint's certificate; empty if that cannot be determined.
std::string CertificateTrouble(const std::string& endpoint) {
  const HostAndPort address = Split(endpoint);
  const Socket socket(address);
  const Owned<SSL_CTX, SSL_CTX_free> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);  // nothing is sent over it
  const Owned<SSL, SSL_free> ssl(SSL_new(context.get()));
  BIO* incoming = BIO_new(BIO_s_mem());
  BIO* outgoing = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl.get(), incoming, outgoing);  // owns both
  SSL_set_tlsext_host_name(ssl.get(), address.host.c_str());
  const unsigned char http2[] = "\x02h2";
  SSL_set_alpn_protos(ssl.get(), http2, sizeof http2 - 1);
  SSL_set_connect_state(ssl.get());
  (void)Handshake(ssl.get(), incoming, outgoing, socket);
  const Owned<X509, X509_free> certificate(SSL_get1_peer_certificate(ssl.get()));
  if (certificate == nullptr) return "";
  if (const auto fault = tls::FaultOf(certificate.get())) {
    return "its certificate cannot be used: it has " + *fault;
  }
  const ASN1_TIME* from = X509_get0_notBefore(certificate.get());
  const ASN1_TIME* until = X509_get0_notAfter(certificate.get());
  if (X509_cmp_current_time(until) < 0) return "its certificate expired on " + Text(until);
  if (X509_cmp_current_time(from) > 0) return "its certificate is valid only from " + Text(from);
  return "its certificate is not signed by a trusted CA";
}

// What a call answers when it is made although the replica is not serving. Empty if it succeeds.
std::string AnswerTrouble(const std::string& endpoint,
                          const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  Connection connection(endpoint, credentials);
  if (!connection.Connect()) return "";
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
  v1::LeaderRequest request;
  request.set_election("-");
  v1::LeaderResponse response;
  const auto status = connection.stub()->Leader(&context, request, &response);
  if (status.ok()) return "";
  const Trouble trouble = Explain(status, credentials != nullptr);
  return trouble.kind == Trouble::Kind::kDenied ? "" : trouble.text;
}

}  // namespace

std::string Diagnose(const std::string& endpoint,
                     const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                     const Trouble& trouble) {
  std::string more;
  const bool name_is_wrong = trouble.text.find("host name") != std::string::npos;
  if (trouble.kind == Trouble::Kind::kCertificate && !name_is_wrong) {
    more = CertificateTrouble(endpoint);
  }
  if (trouble.kind == Trouble::Kind::kNotReady) more = AnswerTrouble(endpoint, credentials);
  return more.empty() ? trouble.text : more;
}

}  // namespace tenure
