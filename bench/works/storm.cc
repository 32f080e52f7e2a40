#include "bench/works/storm.h"

#include <google/protobuf/util/time_util.h>

#include <iostream>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/systems/tenure_system.h"
#include "google/rpc/error_details.pb.h"
#include "tests/support/tenured.h"

namespace tenure::bench {
namespace {

using google::protobuf::util::TimeUtil;
using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

constexpr size_t kElections = 100;
constexpr size_t kStubs = 32;
constexpr int64_t kLeaseSeconds = 2;  // nobody renews: sessions come and go
constexpr auto kDeadline = 5s;
constexpr auto kPatience = 60s;  // in addition to the duration
constexpr auto kLook = 100ms;

bool HasRetryInfo(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return false;
  google::rpc::RetryInfo retry;
  for (const auto& detail : details.details()) {
    if (detail.UnpackTo(&retry)) return true;
  }
  return false;
}

// Repeats one call. Its callbacks come one after another.
class Caller {
 public:
  Caller(std::shared_ptr<v1::ElectionService::Stub> stub, size_t number, Clock::time_point until,
         std::latch& ended)
      : stub_(std::move(stub)), number_(number), until_(until), ended_(ended) {}

  void Begin() {
    begun_ = Clock::now();
    if (campaigns()) {
      v1::CampaignRequest request;
      request.set_election(Election());
      request.set_candidate("caller-" + std::to_string(number_));
      *request.mutable_lease_ttl() = TimeUtil::SecondsToDuration(kLeaseSeconds);
      *request.mutable_wait() = TimeUtil::SecondsToDuration(0);
      Call<v1::CampaignResponse>(request, [this](auto&&... arguments) {
        return stub_->PrepareAsyncCampaign(arguments...);
      });
    } else {
      v1::LeaderRequest request;
      request.set_election(Election());
      Call<v1::LeaderResponse>(
          request, [this](auto&&... arguments) { return stub_->PrepareAsyncLeader(arguments...); });
    }
  }

  [[nodiscard]] bool campaigns() const { return number_ % 2 == 0; }
  [[nodiscard]] const CallTally& tally() const { return tally_; }

 private:
  [[nodiscard]] std::string Election() const {
    return "storm-" + std::to_string(number_ / 2 % kElections);
  }

  template <typename Response, typename Request, typename Prepare>
  void Call(const Request& request, const Prepare& prepare) {
    const auto call = std::make_shared<UnaryCall<Response>>();
    call->context().set_deadline(std::chrono::system_clock::now() + kDeadline);
    call->Begin(request, prepare,
                [this, call](const grpc::Status& status, const Response&) { OnEnded(status); });
  }

  void OnEnded(const grpc::Status& status) {
    const auto now = Clock::now();
    const double took = Milliseconds(now - begun_).count();
    if (status.ok()) {
      tally_.answered_ms.push_back(took);
    } else if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
      tally_.refused_ms.push_back(took);
      if (!HasRetryInfo(status)) ++tally_.refused_without_retry_info;
    } else {
      ++tally_.failed[testing::ReasonOf(status)];
    }
    if (now < until_) return Begin();
    ended_.count_down();
  }

  const std::shared_ptr<v1::ElectionService::Stub> stub_;
  const size_t number_;
  const Clock::time_point until_;
  std::latch& ended_;
  Clock::time_point begun_;
  CallTally tally_;
};

}  // namespace

void RunStorm(const StormOptions& options) {
  TenureSystem system(options.endpoint);
  std::vector<std::shared_ptr<v1::ElectionService::Stub>> stubs;
  for (size_t number = 0; number < kStubs; ++number) stubs.push_back(system.NewStub());
  std::latch ended(static_cast<std::ptrdiff_t>(options.in_flight));
  const auto until = Clock::now() + options.duration;
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t number = 0; number < options.in_flight; ++number) {
    callers.push_back(std::make_unique<Caller>(stubs[number / 2 % kStubs], number, until, ended));
  }
  for (const auto& caller : callers) caller->Begin();
  ended.wait();  // each call has a deadline
  CallTally campaigns;
  CallTally reads;
  for (const auto& caller : callers) {
    (caller->campaigns() ? campaigns : reads).Add(caller->tally());
  }
  const nlohmann::json json = {{"campaigns", ToJson(Summarize(campaigns))},
                               {"reads", ToJson(Summarize(reads))}};
  std::cout << json.dump() << std::endl;
}

StormOutcome RunStormElsewhere(const StormOptions& options,
                               const std::function<void()>& meanwhile) {
  testing::Process storm({testing::Program("tenure-bench"), "storm", "--endpoint", options.endpoint,
                          "--in-flight", std::to_string(options.in_flight), "--seconds",
                          std::to_string(options.duration.count())});
  const auto deadline = Clock::now() + options.duration + kPatience;
  while (storm.Running()) {
    if (Clock::now() > deadline) throw std::runtime_error("the storm does not end");
    meanwhile();
    std::this_thread::sleep_for(kLook);
  }
  const auto lines = storm.Lines();
  if (lines.empty()) throw std::runtime_error("the storm failed: " + storm.Errors());
  const auto json = nlohmann::json::parse(lines.back());
  return {TallySummaryFromJson(json.at("campaigns")), TallySummaryFromJson(json.at("reads"))};
}

}  // namespace tenure::bench
