#include "server/rpc/peers.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/log/log.h"
#include "tenure/replicas.grpc.pb.h"

namespace tenure::rpc {
namespace {

using namespace std::chrono_literals;

constexpr auto kPauseBeforeNextStream = 1s;
constexpr auto kPauseWhileUnreachable = 5s;
// After a first failure, the replica may just have ended, or be about to serve.
constexpr int kFailuresBeforeLog = 2;
constexpr size_t kReasonBytesMax = 300;
constexpr int kConnectPauseMaxMs = 5'000;
// Together, how long it takes to notice that a host is gone.
constexpr int kPingIntervalMs = 10'000;
constexpr int kPingTimeoutMs = 5'000;

std::shared_ptr<grpc::Channel> ConnectTo(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kConnectPauseMaxMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingIntervalMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

// Why a peer cannot be followed, for the operator.
std::string ReasonOf(const grpc::Status& status) {
  const std::string& text = status.error_message();
  const auto says = [&](const char* part) { return text.find(part) != std::string::npos; };
  if (says("Connection refused")) return "connection refused";
  if (says("wrong version number") || says("WRONG_VERSION_NUMBER"))
    return "it does not speak TLS, which this replica uses";
  if (says("Socket closed") || says("Connection reset"))
    return "it closes the connection; does it require TLS, or a client certificate?";
  return text.substr(0, kReasonBytesMax);
}

}  // namespace

class Peers::Stream final : public wire::Tag, public wire::Job {
 public:
  Stream(Peers& peers, Peer peer)
      : peers_(peers),
        peer_(std::move(peer)),
        stub_(replicas::ReplicaService::NewStub(ConnectTo(peer_.address, peers.credentials_))) {}

  // Call once.
  void Start() { peers_.queue_.Post(*this); }
  void Cancel() { context_.TryCancel(); }

  void Run() override {
    replicas::FollowRequest request;
    request.set_replica_id(peer_.id);
    request.set_service_id(peers_.service_id_());
    request.set_address(peers_.self_.address);
    request.mutable_settings()->insert(peers_.self_.settings.begin(), peers_.self_.settings.end());
    reader_ = stub_->PrepareAsyncFollow(&context_, request, &peers_.queue_.get());
    reader_->StartCall(static_cast<wire::Tag*>(this));
  }

  [[nodiscard]] const Peer& peer() const { return peer_; }

  // One operation after the other: the request, the messages, and the end.
  void Completed(bool ok) override {
    if (ended_) return peers_.OnEnd(*this, status_);
    auto* const tag = static_cast<wire::Tag*>(this);
    if (!ok) {
      ended_ = true;
      return reader_->Finish(&status_, tag);
    }
    if (std::exchange(asked_, true)) {
      PartitionOffsets committed{};
      const auto count = std::min(committed.size(), static_cast<size_t>(message_.offsets_size()));
      std::copy_n(message_.offsets().begin(), count, committed.begin());
      peers_.OnMessage(*this, committed);
    }
    reader_->Read(&message_, tag);
  }

  bool open = false;  // a message has arrived; guarded by the mutex of Peers

 private:
  Peers& peers_;
  const Peer peer_;
  const std::unique_ptr<replicas::ReplicaService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReader<replicas::FollowResponse>> reader_;
  // Used on the queue's thread only.
  bool asked_ = false;  // the request is sent
  bool ended_ = false;
  replicas::FollowResponse message_;
  grpc::Status status_;
};

Peers::Peers(engine::Scheduler& scheduler, Metrics& metrics, wire::Queue& queue,
             std::shared_ptr<grpc::ChannelCredentials> credentials,
             std::function<std::string()> service_id, Introduction self, Heard heard)
    : scheduler_(scheduler),
      metrics_(metrics),
      queue_(queue),
      credentials_(std::move(credentials)),
      service_id_(std::move(service_id)),
      self_(std::move(self)),
      heard_(std::move(heard)) {}

Peers::~Peers() {
  MutexLock lock(mutex_);
  wanted_.clear();
  for (const auto& [id, stream] : streams_) stream->Cancel();
  while (!streams_.empty()) ended_.Wait(lock);
}

void Peers::Follow(const std::vector<Peer>& peers) {
  std::vector<std::unique_ptr<Stream>> over;  // destroyed without the lock
  const MutexLock lock(mutex_);
  over.swap(finished_);
  wanted_.clear();
  for (const Peer& peer : peers) wanted_.emplace(peer.id, peer);
  for (auto it = failures_.begin(); it != failures_.end();) {
    it = wanted_.contains(it->first) ? std::next(it) : failures_.erase(it);
  }
  for (const auto& [id, stream] : streams_) {
    const auto peer = wanted_.find(id);
    if (peer == wanted_.end() || peer->second != stream->peer()) stream->Cancel();
  }
  for (const auto& [id, peer] : wanted_) {
    if (!streams_.contains(id)) Open(peer);
  }
  metrics_.replicas.Set(static_cast<double>(wanted_.size()));
}

void Peers::Open(const Peer& peer) {
  const auto opened = streams_.emplace(peer.id, std::make_unique<Stream>(*this, peer)).first;
  opened->second->Start();
}

void Peers::OnMessage(Stream& stream, const PartitionOffsets& committed) {
  {
    const MutexLock lock(mutex_);
    if (!std::exchange(stream.open, true)) {
      CountStreams();
      Succeeded(stream.peer());
    }
  }
  metrics_.nudges.Increment();
  heard_(committed);
}

void Peers::OnEnd(Stream& stream, const grpc::Status& status) {
  const Peer peer = stream.peer();
  const std::string& id = peer.id;
  const MutexLock lock(mutex_);
  const bool was_open = stream.open;
  finished_.push_back(std::move(streams_.extract(id).mapped()));
  CountStreams();
  ended_.NotifyAll();
  if (!wanted_.contains(id)) return;
  const auto pause = was_open ? kPauseBeforeNextStream : Failed(peer, status);
  scheduler_.PostAt(engine::Work::kFeed, scheduler_.Now() + pause, [this, id] { OpenAgain(id); });
}

std::chrono::milliseconds Peers::Failed(const Peer& peer, const grpc::Status& status) {
  // A new process has the address of one that has ended, and that will soon be forgotten.
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return kPauseWhileUnreachable;
  const int failures = ++failures_[peer.id];
  if (failures == kFailuresBeforeLog) {
    LogWarning("cannot follow another replica; what it commits is noticed by polling",
               {{"replica", peer.address}, {"reason", ReasonOf(status)}});
  }
  return failures < kFailuresBeforeLog ? kPauseBeforeNextStream : kPauseWhileUnreachable;
}

void Peers::Succeeded(const Peer& peer) {
  const auto failed = failures_.extract(peer.id);
  if (!failed.empty() && failed.mapped() >= kFailuresBeforeLog)
    LogInfo("follows another replica again", {{"replica", peer.address}});
}

void Peers::OpenAgain(const std::string& id) {
  std::vector<std::unique_ptr<Stream>> over;  // destroyed without the lock
  const MutexLock lock(mutex_);
  over.swap(finished_);
  const auto peer = wanted_.find(id);
  if (peer != wanted_.end() && !streams_.contains(id)) Open(peer->second);
}

void Peers::CountStreams() {
  metrics_.replicas_followed.Set(static_cast<double>(
      std::ranges::count_if(streams_, [](const auto& it) { return it.second->open; })));
}

}  // namespace tenure::rpc
