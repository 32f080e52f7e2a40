#include "client/connection.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "proto/rich_status.h"

namespace tenure {
namespace {

constexpr int kPingIntervalMs = 5'000;
constexpr int kPingTimeoutMs = 3'000;
// Since 1.60, gRPC ignores its timeout of keepalive: it waits for the answer to a ping for as long
// as this says, or else for a minute (grpc/grpc#39239).
constexpr char kPingTimeoutOption[] = "grpc.http2.ping_timeout_ms";
constexpr int kReconnectMs = 200;
// A connection may take longer than the pause between two: to another continent, or to a busy
// server.
constexpr int kConnectTimeoutMs = 3'000;
constexpr auto kConnectPatience = std::chrono::milliseconds(500);
// The health of the server as a whole.
constexpr char kHealthChecked[] =
    R"({"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}})";
constexpr int64_t kBackoffMinMs = 20;
constexpr int64_t kBackoffMaxMs = 500;

std::shared_ptr<grpc::Channel> OpenChannel(
    const std::string& endpoint, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    HealthCheck health_check) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingIntervalMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(kPingTimeoutOption, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMs);
  if (health_check == HealthCheck::kOn) arguments.SetServiceConfigJSON(kHealthChecked);
  // A full page of elections with long values is larger than gRPC's own limit.
  arguments.SetMaxReceiveMessageSize(-1);
  // Each replica has a connection of its own: none waits for another's.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(endpoint, credentials, arguments);
}

}  // namespace

Connection::Connection(const std::string& endpoints,
                       std::shared_ptr<grpc::ChannelCredentials> credentials,
                       HealthCheck health_check)
    : credentials_(credentials != nullptr ? std::move(credentials)
                                          : grpc::InsecureChannelCredentials()),
      health_check_(health_check) {
  std::istringstream list(endpoints);
  for (std::string endpoint; std::getline(list, endpoint, ',');) {
    if (!endpoint.empty()) replicas_.push_back(Open(endpoint));
  }
  in_use_ =
      std::uniform_int_distribution<size_t>(0, std::max<size_t>(replicas_.size(), 1) - 1)(random_);
}

Connection::~Connection() {
  MutexLock lock(under_way_->mutex);
  while (under_way_->calls > 0) under_way_->none.Wait(lock);
}

std::shared_ptr<void> Connection::Mark() {
  const MutexLock lock(under_way_->mutex);
  ++under_way_->calls;
  return {nullptr, [under_way = under_way_](void*) {
            const MutexLock lock(under_way->mutex);
            if (--under_way->calls == 0) under_way->none.NotifyAll();
          }};
}

bool Connection::Connect() {
  return replicas_[in_use_].channel->WaitForConnected(std::chrono::system_clock::now() +
                                                      kConnectPatience);
}

Connection::Replica Connection::Open(const std::string& endpoint) const {
  const auto channel = OpenChannel(endpoint, credentials_, health_check_);
  return {endpoint, channel, v1::ElectionService::NewStub(channel),
          v1::AdminService::NewStub(channel)};
}

void Connection::Reconnect() {
  if (replicas_[in_use_].channel->GetState(false) != GRPC_CHANNEL_READY) return;
  std::erase_if(retired_, [](const Replica& replica) {
    return replica.stub.use_count() == 1 && replica.admin.use_count() == 1;
  });
  retired_.push_back(std::exchange(replicas_[in_use_], Open(std::string(endpoint()))));
}

std::chrono::milliseconds Connection::Backoff() {
  const int64_t longest = std::min(kBackoffMaxMs, kBackoffMinMs << std::min(failures_++, 10));
  return std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(longest / 2, longest)(random_));
}

std::chrono::milliseconds Connection::RefusedPause() {
  return std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(
      kRefusedForNowMin.count(), kRefusedForNowMax.count())(random_));
}

std::string ReasonOf(const grpc::Status& status) { return DetailsOf(status).reason; }

std::string MetadataOf(const grpc::Status& status, const std::string& key) {
  const auto metadata = DetailsOf(status).metadata;
  const auto entry = metadata.find(key);
  return entry == metadata.end() ? "" : entry->second;
}

std::chrono::milliseconds RetryDelayOf(const grpc::Status& status) {
  return DetailsOf(status).retry_delay;
}

bool IsTransient(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED: return true;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: {
      const std::string reason = ReasonOf(status);
      return reason.empty() || reason == "OVERLOADED";
    }
    default: return false;
  }
}

bool IsRefusedForNow(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL: return true;
    default: return ReasonOf(status) == "CANDIDACY_WITHDRAWN";
  }
}

bool IsSessionGone(const grpc::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "SESSION_ENDED" || reason == "SESSION_NOT_FOUND";
}

}  // namespace tenure
