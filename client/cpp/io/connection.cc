#include "client/cpp/io/connection.h"

#include <grpc/support/log.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "client/cpp/machine/call_error.h"
#include "client/cpp/machine/endpoints.h"

namespace tenure {
namespace {

constexpr int kPingIntervalMs = 5'000;
constexpr int kPingTimeoutMs = 3'000;
// Since 1.60, gRPC ignores its keepalive timeout: it waits this long for the answer to a ping, or a
// minute by default (grpc/grpc#39239).
constexpr char kPingTimeoutOption[] = "grpc.http2.ping_timeout_ms";
constexpr int kReconnectMs = 200;
// With gRPC's own minimum of 30 s, a replica that has moved would stay unreachable for longer than
// most leases.
constexpr int kDnsIntervalMs = 1'000;
// Connecting may take longer than the pause between attempts: to another continent, or to a busy
// server.
constexpr int kConnectTimeoutMs = 3'000;
// A survey connects to every replica, but a client uses only one.
constexpr int kIdleTimeoutMs = 30'000;
constexpr auto kConnectPatience = std::chrono::milliseconds(500);
// Checks the health of the server as a whole.
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
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kDnsIntervalMs);
  arguments.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, kIdleTimeoutMs);
  // `http_proxy` is meant for the web; such proxies do not forward gRPC.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (health_check == HealthCheck::kOn) arguments.SetServiceConfigJSON(kHealthChecked);
  // A full page of elections with long values is larger than gRPC's own limit.
  arguments.SetMaxReceiveMessageSize(-1);
  // Each replica has its own connection: none waits for another's.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(endpoint, credentials, arguments);
}

// gRPC prints its own lines only if its environment variables ask for them. We log the same, once,
// with the endpoint.
void SilenceGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (std::getenv("GRPC_VERBOSITY") == nullptr && std::getenv("GRPC_TRACE") == nullptr) {
      gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));
    }
  });
}

}  // namespace

Connection::Connection(const std::string& endpoints,
                       std::shared_ptr<grpc::ChannelCredentials> credentials,
                       HealthCheck health_check, const std::string& service_id)
    : credentials_(std::move(credentials)),
      health_check_(health_check),
      service_{.id = service_id, .pinned = !service_id.empty()} {
  SilenceGrpc();
  const auto parsed = ParseEndpoints(endpoints);
  if (!parsed) throw std::invalid_argument("endpoints: " + parsed.error());
  for (const std::string& endpoint : *parsed) replicas_.push_back(Open(endpoint));
  in_use_ = std::uniform_int_distribution<size_t>(0, replicas_.size() - 1)(random_);
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
  const auto channel = OpenChannel(
      endpoint, credentials_ != nullptr ? credentials_ : grpc::InsecureChannelCredentials(),
      health_check_);
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

void Connection::MoveOn() {
  for (size_t tries = 0; tries < replicas_.size(); ++tries) {
    in_use_ = (in_use_ + 1) % replicas_.size();
    if (!of_other_services_.contains(endpoint())) return;
  }
  in_use_ = (in_use_ + 1) % replicas_.size();  // none is left
}

bool Connection::Belongs(const std::string& endpoint, const std::string& service_id) {
  if (service_id.empty()) return true;  // too old to have one
  if (service_.id.empty()) service_.id = service_id;
  if (service_id == service_.id) return true;
  of_other_services_.insert(endpoint);
  return false;
}

void Connection::Use(const std::string& service_id, const std::vector<EndpointAnswer>& answers) {
  if (!service_id.empty()) service_.id = service_id;
  of_other_services_.clear();
  for (const EndpointAnswer& answer : answers) {
    if (answer.service_id) (void)Belongs(answer.endpoint, *answer.service_id);
  }
  if (of_other_services_.contains(endpoint())) MoveOn();
  const KnownService used{.id = service_.id, .pinned = true};
  if (!service_.id.empty() && !MostAgree(used, answers)) AskAgain(kSurveyPause);
}

void Connection::SurveyBegins(Lease::Time now) {
  surveyed_at_ = now;
  survey_at_ = Lease::Time::max();
}

void Connection::AskAgain(Lease::Time::duration pause) {
  if (!service_.pinned) survey_at_ = std::min(survey_at_, surveyed_at_ + pause);
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

}  // namespace tenure
