#include "server/process/grpc_server.h"

#include <grpcpp/impl/server_builder_option.h>

#include <algorithm>
#include <utility>

#include "server/log/log.h"
#include "tenure/v1/admin.pb.h"
#include "tenure/v1/election.pb.h"

namespace tenure::process {
namespace {

using namespace std::chrono_literals;

// For the database, the HTTP port, other replicas, files, and gRPC itself.
constexpr size_t kDescriptorsKept = 256;
constexpr int kCallsPerConnectionMax = 20'000;
constexpr int kHandshakePatienceMs = 10'000;
constexpr int kStreamWindowBytes = 16 << 10;
constexpr auto kReactionPatience = 2s;

// gRPC decompresses a message before anything asks who sent it, and checks its size afterwards:
// half a megabyte of gzip would take 600 MB. Compressed calls get UNIMPLEMENTED, as gRPC's
// specification asks for.
void RefuseCompression(grpc::ServerBuilder& builder) {
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  // The message may arrive before the call has been refused.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

// gRPC with our patches consults the guard.
class PeerGuardOption final : public grpc::ServerBuilderOption {
 public:
  explicit PeerGuardOption(PeerGuard& guard) : guard_(guard) {}
  void UpdateArguments(grpc::ChannelArguments* arguments) override {
    arguments->SetPointer(kPeerGuardArgument, &guard_);
  }
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* /*all*/) override {}

 private:
  PeerGuard& guard_;
};

network::AcceptorOwner OwnerOf(grpc::experimental::ExternalConnectionAcceptor& door,
                               Metrics& metrics, Refusals& refusals) {
  return {.take =
              [&door](network::Descriptor connection) {
                grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters handed;
                handed.fd = connection.Release();
                door.HandleNewConnection(&handed);
              },
          .refused = [&refusals](network::Refusal refusal) { refusals.Add(refusal); },
          .open = [&metrics](size_t open) { metrics.connections.Set(static_cast<double>(open)); }};
}

}  // namespace

network::ConnectionLimits Fit(const network::ConnectionLimits& asked, size_t descriptors) {
  const size_t room = descriptors > kDescriptorsKept ? descriptors - kDescriptorsKept : 1;
  return {std::min(asked.max, room), std::min(asked.per_address_max, room)};
}

// Counts the calls of the contract's services.
GrpcServer::GrpcServer(const GrpcOptions& options, Metrics& metrics)
    : metrics_(metrics),
      refusals_(metrics),
      newcomers_(options.tls, [this](network::Newcomer refused) { refusals_.Add(refused); }),
      dispatcher_(metrics, {v1::CampaignRequest::descriptor()->file()->service(0),
                            v1::AppointRequest::descriptor()->file()->service(0)}),
      reflection_(dispatcher_, options.may_reflect) {}

GrpcServer::~GrpcServer() {
  if (server_ != nullptr) Shutdown(std::chrono::system_clock::now());
}

tl::expected<std::unique_ptr<GrpcServer>, std::string> GrpcServer::Start(const GrpcOptions& options,
                                                                         const AddServices& add,
                                                                         Metrics& metrics) {
  auto listeners = network::Listen(options.address, "gRPC");
  if (!listeners) return tl::unexpected(listeners.error());

  grpc::ServerBuilder builder;
  std::unique_ptr<GrpcServer> server(new GrpcServer(options, metrics));
  add(server->dispatcher_);
  server->door_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, options.credentials);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsPerConnectionMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakePatienceMs);
  // Clients may ping every 5 s, even without a call; dead ones are noticed within 40 s.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  RefuseCompression(builder);
  builder.SetOption(std::make_unique<PeerGuardOption>(server->newcomers_));
  // Otherwise a stream's window would grow, which no message needs.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
  server->dispatcher_.RegisterWith(builder);
  for (size_t i = 0; i < options.threads; ++i) {
    server->queues_.push_back(std::make_unique<wire::Queue>(builder.AddCompletionQueue()));
  }
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) return tl::unexpected(std::string("gRPC does not start"));
  for (const auto& queue : server->queues_) server->dispatcher_.Serve(*queue);

  const network::ConnectionLimits limits = Fit(options.limits, network::RaiseDescriptorLimit());
  if (limits.max < options.limits.max) {
    LogWarning("fewer connections than --connections-max: the process may have too few descriptors",
               {{"connections_max", limits.max}});
  }
  metrics.connections_max.Set(static_cast<double>(limits.max));
  server->acceptor_ = std::make_unique<network::Acceptor>(
      *std::move(listeners), limits, OwnerOf(*server->door_, metrics, server->refusals_));
  server->self_check_ = std::make_unique<network::SelfCheck>(
      [&acceptor = *server->acceptor_] { return acceptor.Reacts(kReactionPatience); });
  return server;
}

void GrpcServer::CountNewcomers() {
  const network::NewcomerCounts counts = newcomers_.Count();
  metrics_.newcomers_handshakes.Set(static_cast<double>(counts.handshakes));
  metrics_.newcomers_calls.Set(static_cast<double>(counts.calls));
  metrics_.newcomers_message_bytes.Set(static_cast<double>(counts.message_bytes));
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  if (self_check_ != nullptr) self_check_->Stop();
  acceptor_.reset();
  dispatcher_.ShutDown(*server_, deadline);
}

}  // namespace tenure::process
