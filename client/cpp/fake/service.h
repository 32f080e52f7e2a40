// The service of a FakeTenure: the calls of the contract that the library makes.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "client/cpp/fake/elections.h"
#include "client/cpp/io/test_clock.h"
#include "tenure/v1/election.grpc.pb.h"

namespace tenure {

// Thread-safe. Listens on its own port of the loopback interface.
class FakeService final : public v1::ElectionService::CallbackService {
 public:
  explicit FakeService(std::shared_ptr<const TestClock> clock);
  ~FakeService() override;
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  [[nodiscard]] std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

  // The clock has moved.
  void Expire();
  [[nodiscard]] Lease::Time NextDue() const;

  // Empty: everybody.
  void Cut(const std::vector<std::string>& candidates);
  void Restore(const std::vector<std::string>& candidates);
  // False: the law refuses the change.
  [[nodiscard]] bool Depose(const std::string& election);
  [[nodiscard]] bool Appoint(const std::string& election, const std::string& candidate);
  [[nodiscard]] std::optional<v1::Leadership> Leader(const std::string& election) const;
  [[nodiscard]] std::vector<std::string> Queue(const std::string& election) const;

  // Number of requests received and streams ended.
  [[nodiscard]] size_t activity() const;
  // Whether the client has received everything that was sent on its stream.
  [[nodiscard]] bool WasHeard(const TestClock::Rest& rest) const;

  grpc::ServerUnaryReactor* Identify(grpc::CallbackServerContext* context,
                                     const v1::IdentifyRequest* request,
                                     v1::IdentifyResponse* response) override;
  grpc::ServerUnaryReactor* Campaign(grpc::CallbackServerContext* context,
                                     const v1::CampaignRequest* request,
                                     v1::CampaignResponse* response) override;
  grpc::ServerUnaryReactor* Resign(grpc::CallbackServerContext* context,
                                   const v1::ResignRequest* request,
                                   v1::ResignResponse* response) override;
  grpc::ServerBidiReactor<v1::KeepAliveRequest, v1::KeepAliveResponse>* KeepAlive(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<v1::ObserveResponse>* Observe(
      grpc::CallbackServerContext* context, const v1::ObserveRequest* request) override;

 private:
  class Stream;
  class Watcher;

  // Who campaigns: a session, or one that the call opens.
  struct Caller {
    SessionId session;
    std::optional<tenure::Campaign::Opening> opening;
    std::optional<std::string> candidate;
  };
  [[nodiscard]] grpc::Status Answer(const v1::CampaignRequest& request,
                                    v1::CampaignResponse& response) TENURE_REQUIRES(mutex_);
  [[nodiscard]] grpc::Status AnswerOne(const v1::CampaignRequest& request, const Caller& caller,
                                       v1::CampaignResponse& response) TENURE_REQUIRES(mutex_);
  [[nodiscard]] grpc::Status AnswerAll(const v1::CampaignRequest& request, const Caller& caller,
                                       v1::CampaignResponse& response) TENURE_REQUIRES(mutex_);
  [[nodiscard]] grpc::Status Answer(const v1::ResignRequest& request, v1::ResignResponse& response)
      TENURE_REQUIRES(mutex_);
  void Answer(const v1::KeepAliveRequest& request, Stream& stream) TENURE_REQUIRES(mutex_);
  // Sends the starting point of each election that the observer selects.
  void Begin(Watcher& watcher) TENURE_REQUIRES(mutex_);

  [[nodiscard]] bool IsCut(const std::string& candidate) const TENURE_REQUIRES(mutex_) {
    return cut_.contains("") || cut_.contains(candidate);
  }
  [[nodiscard]] bool IsCut(const Session* session) const TENURE_REQUIRES(mutex_) {
    return IsCut(session == nullptr ? "" : session->candidate);
  }
  // Reports what has changed.
  void Publish() TENURE_REQUIRES(mutex_);
  void Publish(const Event& event) TENURE_REQUIRES(mutex_);

  const std::shared_ptr<const TestClock> clock_;
  mutable Mutex mutex_;
  FakeElections elections_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, SessionId> opened_ TENURE_GUARDED_BY(mutex_);  // by request_id
  uint64_t last_session_ TENURE_GUARDED_BY(mutex_) = 0;
  uint64_t last_call_ TENURE_GUARDED_BY(mutex_) = 0;
  std::set<std::string> cut_ TENURE_GUARDED_BY(mutex_);  // candidates; "" is everybody
  std::set<Stream*> streams_ TENURE_GUARDED_BY(mutex_);
  std::set<Watcher*> watchers_ TENURE_GUARDED_BY(mutex_);
  size_t activity_ TENURE_GUARDED_BY(mutex_) = 0;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tenure
