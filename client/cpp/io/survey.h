// Asks all endpoints of a client at once which service they belong to.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/mutex.h"
#include "client/cpp/io/client_log.h"
#include "client/cpp/io/connection.h"
#include "client/cpp/machine/service_choice.h"

namespace tenure {

// How long endpoints may take to answer when no call waits for them.
inline constexpr std::chrono::milliseconds kSurveyPatience{1'500};

struct SurveyResult {
  std::vector<EndpointAnswer> answers;           // one for each endpoint, in their order
  std::map<std::string, grpc::Status> failures;  // of endpoints that did not answer with an id

  // The service to use; empty: the endpoints that answered are too old to have an id. Errors: those
  // of ChooseService; an endpoint's own if none answers.
  [[nodiscard]] tl::expected<std::string, grpc::Status> Choose(const KnownService& known) const;
};

// Uses the service that a survey has found, and logs what is wrong; calls `replaced` if another
// service was known. Not OK: the endpoints disagree, or none answers.
[[nodiscard]] grpc::Status Settle(const SurveyResult& result, Connection& connection,
                                  ClientLog& log, Lease::Time now,
                                  const std::function<void()>& replaced);

// Takes in what one endpoint says about its service. False: it belongs to a service other than the
// known one. It is then no longer used, and the log names it once.
bool HearService(const std::string& endpoint, const std::string& service_id, Connection& connection,
                 ClientLog& log);

// Thread-safe.
class Survey : public std::enable_shared_from_this<Survey> {
 public:
  using Done = std::function<void(SurveyResult)>;

  // An endpoint answered after the survey was done.
  using Late = std::function<void(const std::string& endpoint, const std::string& service_id)>;

  // `done` is called once, on one of gRPC's threads, when most endpoints agree, or all have
  // answered or failed. Until the deadline, or Cancel, the others may still answer: `late` is
  // called for each, also on gRPC's threads, after `done` has returned.
  static std::shared_ptr<Survey> Start(Connection& connection,
                                       std::chrono::system_clock::time_point deadline, Done done,
                                       Late late);
  void Cancel();

 private:
  Survey(KnownService known, std::vector<EndpointAnswer> endpoints, Done done, Late late)
      : known_(std::move(known)),
        done_(std::move(done)),
        late_(std::move(late)),
        missing_(endpoints.size()) {
    result_.answers = std::move(endpoints);
  }

  void OnAnswer(size_t index, const grpc::Status& status, const v1::IdentifyResponse& response);

  const KnownService known_;
  const Done done_;
  const Late late_;
  Mutex mutex_;
  SurveyResult result_ TENURE_GUARDED_BY(mutex_);
  size_t missing_ TENURE_GUARDED_BY(mutex_);
  bool told_ TENURE_GUARDED_BY(mutex_) = false;
  bool reported_ TENURE_GUARDED_BY(mutex_) = false;             // `done_` has returned
  std::vector<EndpointAnswer> held_ TENURE_GUARDED_BY(mutex_);  // until then
  std::vector<std::weak_ptr<grpc::ClientContext>> calls_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
