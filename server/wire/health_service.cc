#include "server/wire/health_service.h"

#include <string>
#include <utility>

namespace tenure::wire {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// A client needs one watcher per name.
constexpr size_t kWatchersPerConnectionMax = 10;
// One for each connection that there may be: they take 17 kB each.
constexpr size_t kWatchersMax = 10'000;

HealthCheckResponse Response(HealthCheckResponse::ServingStatus status) {
  HealthCheckResponse response;
  response.set_status(status);
  return response;
}

HealthCheckResponse::ServingStatus StatusOf(bool serving) {
  return serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

HealthService::HealthService(Dispatcher& dispatcher)
    : places_(kWatchersMax),
      status_(Response(StatusOf(false))),
      unknown_(Response(HealthCheckResponse::SERVICE_UNKNOWN)) {
  const auto& service = *HealthCheckRequest::descriptor()->file()->FindServiceByName("Health");
  dispatcher.Add(service, "Check", *this, &HealthService::Check);
  dispatcher.Add(service, "Watch", *this, &HealthService::Watch);
}

void HealthService::SetServing(bool serving) {
  if (serving_.exchange(serving) == serving) return;
  status_.Update([&](HealthCheckResponse& it) { it.set_status(StatusOf(serving_)); });
}

void HealthService::Check(ServerCall& call, const HealthCheckRequest& request) {
  if (!request.service().empty()) {
    return call.Finish({grpc::StatusCode::NOT_FOUND, "the server has no health of that name"});
  }
  call.Answer(Response(StatusOf(serving_)));
}

void HealthService::Watch(ServerCall& call, const HealthCheckRequest& request) {
  auto place = TakePlace(call.context().peer());
  if (place == nullptr) {
    return call.Finish({grpc::StatusCode::RESOURCE_EXHAUSTED,
                        "this connection or address watches the server's health too often"});
  }
  (request.service().empty() ? status_ : unknown_).Join(call, std::move(place));
}

std::shared_ptr<void> HealthService::TakePlace(const std::string& peer) {
  auto place = places_.Take(peer);
  if (place == nullptr) return nullptr;
  const MutexLock lock(mutex_);
  size_t& taken = watchers_[peer];
  if (taken == kWatchersPerConnectionMax) return nullptr;
  ++taken;
  return {this, [this, peer, place = std::move(place)](void*) {
            const MutexLock released(mutex_);
            if (--watchers_.at(peer) == 0) watchers_.erase(peer);
          }};
}

}  // namespace tenure::wire
