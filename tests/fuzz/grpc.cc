// Bytes that may come through the gRPC port, sent to a whole server on a SQLite database in memory.
// The server must not break, and must go on answering proper calls.
//
// The input is a list of records: a kind, a stream, a length of one byte, and that number
// of bytes. `WriteRecord` has the kinds: frames that are right except for their payload, frames of
// any type, and bytes that are no frames.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/engine.h"
#include "server/log/log.h"
#include "server/network/network_testing.h"
#include "server/process/grpc_server.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/election_service.h"
#include "server/rpc/replica_service.h"
#include "storage/sqlite/open.h"
#include "tenure/v1/admin.grpc.pb.h"
#include "tenure/v1/election.grpc.pb.h"
#include "tests/fuzz/require.h"
#include "tests/support/process.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

constexpr int kInputsPerCheck = 10;
constexpr auto kSilence = 3ms;  // after which the server has nothing more to say, most likely

// What `tenured` serves, without TLS and a policy.
class Server {
 public:
  Server() {
    Require(store_->Migrate().has_value(), "SQLite works");
    Require(engine_.Start().has_value(), "the engine starts");
    Require(server_.has_value(), "gRPC starts");
  }
  ~Server() {
    engine_.hub().Drain();
    replicas_.Drain();
    (*server_)->Shutdown(std::chrono::system_clock::now());
    scheduler_.Stop();
    (void)StopLog();
  }

  [[nodiscard]] int port() const { return port_; }

  // Whether a proper call is answered.
  [[nodiscard]] bool Answers() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 15s);
    v1::LeaderRequest request;
    request.set_election("orders");
    v1::LeaderResponse response;
    return stub_->Leader(&context, request, &response).ok();
  }

 private:
  const int port_ = testing::FreePort();
  const std::string address_ = "127.0.0.1:" + std::to_string(port_);
  std::unique_ptr<Store> store_ = sqlite::OpenSqliteStore(":memory:").value();
  Metrics metrics_{{}};
  engine::ThreadScheduler scheduler_;
  std::unique_ptr<access::Access> access_ =
      access::Access::Open("", [this] { return scheduler_.Now(); }).value();
  engine::Engine engine_{*store_, scheduler_, metrics_, {}};
  rpc::ReplicaService replicas_{metrics_, std::string(16, 'r'), {}};
  rpc::ElectionService elections_{engine_, *access_, {}};
  rpc::AdminService administration_{engine_, *access_, "sqlite::memory:"};
  tl::expected<std::unique_ptr<process::GrpcServer>, std::string> server_ =
      process::GrpcServer::Start(
          {address_, grpc::InsecureServerCredentials(), {1'000, 1'000}},
          [this](wire::Dispatcher& dispatcher) {
            elections_.AddTo(dispatcher);
            administration_.AddTo(dispatcher);
            replicas_.AddTo(dispatcher);
          },
          metrics_);
  const std::unique_ptr<v1::ElectionService::Stub> stub_ = v1::ElectionService::NewStub(
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
};

std::unique_ptr<Server> StartQuietly() {
  setenv("GRPC_VERBOSITY", "NONE", 0);
  StartLog({.level = spdlog::level::off});
  return std::make_unique<Server>();
}

// The paths of all calls that the server has, and one that it does not have.
std::vector<std::string> Paths() {
  std::vector<std::string> paths{"/grpc.health.v1.Health/Check",
                                 "/tenure.replicas.ReplicaService/Follow",
                                 "/tenure.v1.ElectionService/None"};
  for (const auto* file :
       {v1::CampaignRequest::descriptor()->file(), v1::AppointRequest::descriptor()->file()}) {
    const auto* service = file->service(0);
    for (int i = 0; i < service->method_count(); ++i) {
      paths.push_back("/" + service->full_name() + "/" + service->method(i)->name());
    }
  }
  return paths;
}

std::string Number(size_t value, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = bytes; i-- > 0; value >>= 8) text[i] = static_cast<char>(value & 0xff);
  return text;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  return Number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
         Number(stream, 4) + payload;
}

// A header as HPACK writes one that it does not remember.
std::string Header(std::string_view name, std::string_view value) {
  std::string text(1, '\0');
  for (const std::string_view part : {name, value}) {
    text += static_cast<char>(part.size());
    text += part;
  }
  return text;
}

// The headers of a call; the first byte chooses which, and the others follow these headers.
std::string CallHeaders(std::string_view payload) {
  static const std::vector<std::string> paths = Paths();
  const size_t choice = payload.empty() ? 0 : static_cast<uint8_t>(payload.front());
  return Header(":method", "POST") + Header(":scheme", "http") +
         Header(":path", paths[choice % paths.size()]) + Header(":authority", "fuzz") +
         Header("te", "trailers") + Header("content-type", "application/grpc") +
         std::string(payload.empty() ? payload : payload.substr(1));
}

std::string Message(std::string_view bytes) {
  return Number(0, 1) + Number(bytes.size(), 4) + std::string(bytes);
}

enum FrameType : uint8_t { kData = 0, kHeaders = 1 };
enum FrameFlags : uint8_t { kNone = 0, kEndStream = 1, kEndHeaders = 4 };

std::string WriteRecord(char kind, uint32_t stream, std::string_view bytes) {
  switch (kind) {
    case 'H': return Frame(kHeaders, kEndHeaders, stream, CallHeaders(bytes));
    case 'M': return Frame(kData, kEndStream, stream, Message(bytes));
    case 'm': return Frame(kData, kNone, stream, Message(bytes));
    case 'D': return Frame(kData, kEndStream, stream, std::string(bytes));
    case 'F':
      if (bytes.size() < 2) return "";
      return Frame(static_cast<uint8_t>(bytes[0]), static_cast<uint8_t>(bytes[1]), stream,
                   std::string(bytes.substr(2)));
    default: return std::string(bytes);
  }
}

std::string Write(std::string_view input) {
  std::string written = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, "");
  while (input.size() >= 3) {
    const char kind = input[0];
    const auto stream = static_cast<uint8_t>(input[1] - '0');
    const size_t length = static_cast<uint8_t>(input[2]);
    const std::string_view bytes = input.substr(3, length);
    written += WriteRecord(kind, stream, bytes);
    input.remove_prefix(3 + bytes.size());
  }
  return written;
}

// Reads until nothing comes for a while, so that calls have begun when the connection ends.
void ReadUntilSilent(const network::Descriptor& client) {
  char buffer[65'536];
  pollfd polled{client.number(), POLLIN, 0};
  while (poll(&polled, 1, std::chrono::milliseconds(kSilence).count()) > 0) {
    if (recv(client.number(), buffer, sizeof buffer, 0) <= 0) return;
  }
}

void Try(Server& server, std::string_view input) {
  const network::Descriptor client = network::ConnectToPort(server.port());
  Require(client.valid(), "it accepts");
  network::SendAll(client, Write(input));
  ReadUntilSilent(client);

  static int inputs = 0;
  if (++inputs % kInputsPerCheck == 0) Require(server.Answers(), "it answers a proper call");
}

}  // namespace
}  // namespace tenure

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const google::protobuf::LogSilencer silence;
  static const auto server = tenure::StartQuietly();
  tenure::Try(*server, {reinterpret_cast<const char*>(data), size});
  return 0;
}
