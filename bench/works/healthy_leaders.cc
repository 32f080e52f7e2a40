#include "bench/works/healthy_leaders.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "bench/systems/tenure_system.h"

namespace tenure::bench {
namespace {

using google::protobuf::util::TimeUtil;
using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

constexpr int kRenewalsPerLease = 3;
constexpr auto kTryAgain = 100ms;
constexpr auto kStreamPatience = 30s;  // in addition to the duration

// A KeepAlive stream that one thread reads and writes.
class RenewalStream {
 public:
  RenewalStream(v1::ElectionService::Stub& stub, Clock::duration patience) {
    context_.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(patience));
    stream_ = stub.KeepAlive(&context_);
  }
  ~RenewalStream() {
    context_.TryCancel();
    (void)stream_->Finish();
  }
  RenewalStream(const RenewalStream&) = delete;
  RenewalStream& operator=(const RenewalStream&) = delete;

  // Whether the session was renewed; nothing if the stream is lost.
  std::optional<bool> Renew(const std::string& session_id) {
    v1::KeepAliveRequest request;
    request.set_sequence(++sequence_);
    request.add_session_ids(session_id);
    if (!stream_->Write(request)) return std::nullopt;
    v1::KeepAliveResponse response;
    while (stream_->Read(&response)) {
      if (response.has_renewal()) return response.renewal().sessions(0).has_lease_ttl();
    }
    return std::nullopt;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::KeepAliveRequest, v1::KeepAliveResponse>> stream_;
  uint64_t sequence_ = 0;
};

// One leader, driven by its own thread.
class HealthyLeader {
 public:
  HealthyLeader(TenureSystem& system, size_t number, const HealthyOptions& options)
      : stub_(system.NewStub()),
        election_("healthy-" + std::to_string(number)),
        lease_(options.lease) {
    v1::CampaignRequest request;
    request.set_election(election_);
    request.set_candidate(election_);
    *request.mutable_lease_ttl() = TimeUtil::SecondsToDuration(options.lease.count());
    v1::CampaignResponse response;
    renewed_at_ = Clock::now();
    MakeCall("Campaign", [&](grpc::ClientContext& context) {
      return stub_->Campaign(&context, request, &response);
    });
    session_id_ = response.session().session_id();
    term_ = response.elected().term();
    outcome_.least_margin_ms = Milliseconds(lease_).count();
  }

  void RenewUntil(Clock::time_point until) {
    const auto patience = until - Clock::now() + kStreamPatience;
    std::optional<RenewalStream> stream(std::in_place, *stub_, patience);
    while (Clock::now() < until && alive_) {
      const auto begun = Clock::now();
      const auto renewed = stream->Renew(session_id_);
      const auto ended = Clock::now();
      if (!renewed) {
        ++outcome_.streams_lost;
        stream.emplace(*stub_, patience);
        std::this_thread::sleep_for(kTryAgain);
        continue;
      }
      alive_ = *renewed;
      const double margin = Milliseconds(renewed_at_ + lease_ - ended).count();
      ++outcome_.renewals;
      if (margin < 0) ++outcome_.leases_missed;
      outcome_.worst_trip_ms =
          std::max(outcome_.worst_trip_ms, Milliseconds(ended - begun).count());
      outcome_.least_margin_ms = std::min(outcome_.least_margin_ms, margin);
      renewed_at_ = begun;
      std::this_thread::sleep_until(begun + lease_ / kRenewalsPerLease);
    }
  }

  HealthyOutcome Judge() {
    v1::LeaderRequest request;
    request.set_election(election_);
    v1::LeaderResponse response;
    MakeCall("Leader", [&](grpc::ClientContext& context) {
      return stub_->Leader(&context, request, &response);
    });
    if (response.term() != term_ || response.leader().term() != term_) outcome_.terms_lost = 1;
    return outcome_;
  }

 private:
  const std::shared_ptr<v1::ElectionService::Stub> stub_;
  const std::string election_;
  const std::chrono::milliseconds lease_;
  std::string session_id_;
  uint64_t term_ = 0;
  Clock::time_point renewed_at_;
  bool alive_ = true;
  HealthyOutcome outcome_;
};

}  // namespace

void RunHealthyLeaders(const HealthyOptions& options) {
  TenureSystem system(options.endpoint);
  std::vector<std::unique_ptr<HealthyLeader>> leaders;
  for (size_t number = 0; number < options.count; ++number) {
    leaders.push_back(std::make_unique<HealthyLeader>(system, number, options));
  }
  std::cout << "leading" << std::endl;
  const auto until = Clock::now() + options.duration;
  {
    std::vector<std::jthread> threads;
    for (const auto& leader : leaders) {
      threads.emplace_back([&leader, until] { leader->RenewUntil(until); });
    }
  }
  HealthyOutcome all{.least_margin_ms = Milliseconds(options.lease).count()};
  for (const auto& leader : leaders) {
    const HealthyOutcome one = leader->Judge();
    all.terms_lost += one.terms_lost;
    all.leases_missed += one.leases_missed;
    all.streams_lost += one.streams_lost;
    all.renewals += one.renewals;
    all.worst_trip_ms = std::max(all.worst_trip_ms, one.worst_trip_ms);
    all.least_margin_ms = std::min(all.least_margin_ms, one.least_margin_ms);
  }
  const nlohmann::json json = {
      {"terms_lost", all.terms_lost},       {"leases_missed", all.leases_missed},
      {"streams_lost", all.streams_lost},   {"renewals", all.renewals},
      {"worst_trip_ms", all.worst_trip_ms}, {"least_margin_ms", all.least_margin_ms}};
  std::cout << json.dump() << std::endl;
}

HealthyOutcome HealthyOutcomeFromJson(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  return {.terms_lost = json.at("terms_lost"),
          .leases_missed = json.at("leases_missed"),
          .streams_lost = json.at("streams_lost"),
          .renewals = json.at("renewals"),
          .worst_trip_ms = json.at("worst_trip_ms"),
          .least_margin_ms = json.at("least_margin_ms")};
}

}  // namespace tenure::bench
