// Which replica to talk to, and what to make of its errors.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "client/cpp/machine/service_choice.h"
#include "client/cpp/machine/trouble.h"
#include "core/lease.h"
#include "tenure/v1/admin.grpc.pb.h"
#include "tenure/v1/election.grpc.pb.h"

namespace tenure {

// Whether replicas are asked how they are, by the standard health service. One that says that it
// does not serve is as good as unreachable, and of several behind one name only those that serve
// are used.
enum class HealthCheck { kOff, kOn };

// From the beginning of one survey to that of the next, while a session is open.
inline constexpr std::chrono::seconds kSurveyPauseMin{1};
inline constexpr std::chrono::seconds kSurveyPause{10};
// Names the service that a call is meant for.
inline constexpr char kServiceIdKey[] = "tenure-service-id";

// The replicas of one service, one of them in use. Any will do; a caller that meets a broken one
// moves on. Not thread-safe.
class Connection {
 public:
  // "host:port[,host:port...]". Nothing is connected to yet. Null credentials: without TLS. Throws
  // std::invalid_argument if the endpoints are malformed.
  explicit Connection(const std::string& endpoints,
                      std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr,
                      HealthCheck health_check = HealthCheck::kOff,
                      const std::string& service_id = "");  // empty: it is learned
  // Waits until gRPC has let go of every call that holds a mark. Cancel them first.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Stubs for the replica in use.
  [[nodiscard]] std::shared_ptr<v1::ElectionService::Stub> stub() {
    return replicas_[in_use_].stub;
  }
  [[nodiscard]] std::shared_ptr<v1::AdminService::Stub> admin() { return replicas_[in_use_].admin; }
  // Its "host:port".
  [[nodiscard]] const std::string& endpoint() const { return replicas_[in_use_].endpoint; }
  // All endpoints, by their index.
  [[nodiscard]] size_t size() const { return replicas_.size(); }
  [[nodiscard]] const std::string& endpoint(size_t index) const {
    return replicas_[index].endpoint;
  }
  [[nodiscard]] std::shared_ptr<v1::ElectionService::Stub> stub(size_t index) {
    return replicas_[index].stub;
  }
  // Null: without TLS.
  [[nodiscard]] const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }
  // An error of a call to this endpoint, explained.
  [[nodiscard]] grpc::Status Explained(const grpc::Status& status,
                                       const std::string& endpoint) const {
    return tenure::Explained(status, endpoint, credentials_ != nullptr);
  }
  // Each call that ends on one of gRPC's threads holds one, and releases it last. The last owner of
  // a channel ends those threads, so it must not be one of them.
  [[nodiscard]] std::shared_ptr<void> Mark();
  // Waits a bounded time for the replica in use to take connections. Calls that block the thread
  // need this first: between their tries nothing else drives the connection.
  [[nodiscard]] bool Connect();
  // Uses the next replica from now on, but none of another service unless there is no other.
  void MoveOn();

  // The service that the endpoints belong to, as far as it is known.
  [[nodiscard]] const KnownService& service() const { return service_; }
  // Whether the endpoints should be asked before a session or an observation begins.
  [[nodiscard]] bool needs_survey() const { return size() > 1 || !service_.id.empty(); }
  // When they should be asked again while one lasts: soon after an endpoint has refused a call for
  // another service, and from time to time until most endpoints have said that they belong to this
  // one. Never, if the service is pinned.
  [[nodiscard]] Lease::Time survey_at() const { return survey_at_; }
  void SurveyBegins(Lease::Time now);
  void Refused() { AskAgain(kSurveyPauseMin); }
  // A replica says that it belongs to this service. False if that is another one than the known:
  // then its endpoint is not used any more.
  [[nodiscard]] bool Belongs(const std::string& endpoint, const std::string& service_id);
  // The survey has ended without a service to use.
  void SurveyFailed() { AskAgain(kSurveyPause); }
  // From now on this is the service, and the endpoints that answered with another id are not used.
  void Use(const std::string& service_id, const std::vector<EndpointAnswer>& answers);
  // To be called for each call: a replica of another service refuses it.
  void NameService(grpc::ClientContext& context) const {
    if (!service_.id.empty()) context.AddMetadata(kServiceIdKey, service_.id);
  }
  // Nothing came back from the replica in use: if it is connected, it connects again. One that is
  // still connecting may take as long as it needs.
  void Reconnect();
  // How long to wait before the next try: longer with each one in a row, with jitter.
  [[nodiscard]] std::chrono::milliseconds Backoff();
  // How long instead, if only an operator, or other clients, can change what refuses it.
  [[nodiscard]] std::chrono::milliseconds RefusedPause();
  // A try went well.
  void Succeeded() { failures_ = 0; }

 private:
  struct Replica {
    std::string endpoint;
    std::shared_ptr<grpc::Channel> channel;
    std::shared_ptr<v1::ElectionService::Stub> stub;
    std::shared_ptr<v1::AdminService::Stub> admin;
  };

  // Counts the marks; outlives the connection for as long as it takes to say that it is zero.
  struct UnderWay {
    Mutex mutex;
    ConditionVariable none;
    int calls TENURE_GUARDED_BY(mutex) = 0;
  };

  [[nodiscard]] Replica Open(const std::string& endpoint) const;
  // Schedules the next survey for this long after the last one began.
  void AskAgain(Lease::Time::duration pause);

  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const HealthCheck health_check_;
  const std::shared_ptr<UnderWay> under_way_ = std::make_shared<UnderWay>();
  std::vector<Replica> replicas_;
  std::vector<Replica> retired_;  // until the last of their calls has let go of its stub
  size_t in_use_ = 0;
  KnownService service_;
  Lease::Time surveyed_at_{};
  Lease::Time survey_at_ = Lease::Time::max();
  std::set<std::string> of_other_services_;  // endpoints
  int failures_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace tenure
