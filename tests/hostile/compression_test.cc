// Messages that are small on the wire and large in memory: no call of any service may use a
// compression.
#include <zlib.h>

#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kInflatedBytes = 300 << 20;
constexpr size_t kMemoryGrowthMax = 50 << 20;

constexpr char kHealth[] = "/grpc.health.v1.Health/Check";
const std::vector<std::string> kMethods = {
    "/tenure.v1.ElectionService/Leader",
    "/tenure.v1.ElectionService/KeepAlive",
    "/tenure.v1.ElectionService/Observe",
    "/tenure.v1.AdminService/ListElections",
    "/tenure.replicas.ReplicaService/Follow",
    kHealth,
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/nobody.Nothing/Nonsense",
};

// Zeros, as zlib writes them; `window` says in which format.
std::string Deflate(size_t zeros, int window) {
  const std::string block(1 << 20, '\0');
  std::string out(zeros / 500 + 1'000, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  for (size_t left = zeros; left > 0; left -= std::min(left, block.size())) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    stream.avail_in = static_cast<uInt>(std::min(left, block.size()));
    EXPECT_EQ(deflate(&stream, Z_NO_FLUSH), Z_OK);
  }
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
const std::string& Gzip() {
  static const std::string bytes = Deflate(kInflatedBytes, 15 + 16);
  return bytes;
}
const std::string& Zlib() {
  static const std::string bytes = Deflate(kInflatedBytes, 15);
  return bytes;
}

// As gRPC puts it on a stream.
std::string Message(bool compressed, const std::string& bytes) {
  std::string message(1, compressed ? '\1' : '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    message += static_cast<char>(bytes.size() >> shift & 0xFF);
  return message + bytes;
}

class CompressionTest : public HostileTest {
 protected:
  // What comes back for one call with these headers and this message.
  std::string Call(const std::string& path, const std::string& more_headers,
                   const std::string& message) {
    const Descriptor connection = ConnectTo(Server().endpoint());
    using http2::Type;
    Send(connection, http2::Greeting() + http2::Frame(Type::kHeaders, http2::kEndHeaders, 1,
                                                      http2::CallHeaders(path, more_headers)));
    constexpr size_t kFrame = 16'000;
    for (size_t at = 0; at < message.size(); at += kFrame) {
      const char flags = at + kFrame < message.size() ? 0 : http2::kEndStream;
      if (!Send(connection, http2::Frame(Type::kData, flags, 1, message.substr(at, kFrame)))) break;
    }
    return ReceiveUntil(connection, "grpc-status");
  }
  static std::string Encoding(const std::string& name) {
    return http2::Literal("grpc-encoding", name);
  }

  void ExpectRefused(const std::string& encoding, const std::string& message) {
    const size_t before = PeakMemory(Server());
    for (const std::string& method : kMethods) {
      EXPECT_THAT(Call(method, Encoding(encoding), message), HasSubstr(kUnimplemented))
          << encoding << " " << method;
    }
    EXPECT_LT(PeakMemory(Server()), before + kMemoryGrowthMax) << encoding;
    ExpectUnharmed();
  }

  // A header as gRPC writes it: the length of the value, and the value.
  static constexpr char kUnimplemented[] =
      "grpc-status\2"
      "12";
  static constexpr char kOk[] =
      "grpc-status\1"
      "0";
};

TEST_F(CompressionTest, GzipIsRefusedByEveryService) {
  ExpectRefused("gzip", Message(true, Gzip()));
}

TEST_F(CompressionTest, DeflateIsRefusedByEveryService) {
  ExpectRefused("deflate", Message(true, Zlib()));
}

TEST_F(CompressionTest, ACompressionIsRefusedEvenIfTheMessageIsNotCompressed) {
  EXPECT_THAT(Call(kHealth, Encoding("gzip"), Message(false, "")), HasSubstr(kUnimplemented));
  EXPECT_THAT(Call(kHealth, Encoding("deflate"), Message(false, "")), HasSubstr(kUnimplemented));
}

TEST_F(CompressionTest, AMessageWithoutAValidCompressionIsNotInflated) {
  const size_t before = PeakMemory(Server());

  // No algorithm; one that nobody knows; one of gRPC's past; and one of HTTP's.
  for (const std::string& headers :
       {std::string(), Encoding("identity"), Encoding("snappy"), Encoding(""),
        Encoding("stream/gzip"), http2::Literal("content-encoding", "gzip"),
        Encoding("identity") + Encoding("gzip")}) {
    for (const std::string& method : kMethods) (void)Call(method, headers, Message(true, Gzip()));
  }

  EXPECT_LT(PeakMemory(Server()), before + kMemoryGrowthMax);
  ExpectUnharmed();
}

TEST_F(CompressionTest, NoCompressionIsServed) {
  EXPECT_THAT(Call(kHealth, "", Message(false, "")), HasSubstr(kOk));
  EXPECT_THAT(Call(kHealth, Encoding("identity"), Message(false, "")), HasSubstr(kOk));
}

// So that clients do not try.
TEST_F(CompressionTest, OnlyIdentityIsOffered) {
  const std::string answer = Call(kHealth, Encoding("gzip"), Message(false, ""));

  EXPECT_THAT(answer, Not(HasSubstr("gzip,")));
  EXPECT_THAT(answer, Not(HasSubstr("deflate")));
}

}  // namespace
}  // namespace tenure::testing
