// What all parts of the example need: a clock, lines of output, and the replicas of the service.
#pragma once

#include <grpcpp/grpcpp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tenure/v1/election.grpc.pb.h"

namespace pb = tenure::v1;

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

// The clock that leases are counted by. A lease goes on while the machine is suspended, and so does
// this clock of Linux; std::chrono::steady_clock does not.
struct LeaseClock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<LeaseClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec));
  }
};

inline int64_t Milliseconds(nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

inline void Say(Json line) {
  line["time_ms"] = Milliseconds(std::chrono::system_clock::now().time_since_epoch());
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

inline void Complain(const grpc::Status& error) {
  std::fprintf(stderr, "gRPC status %d: %s\n", error.error_code(), error.error_message().c_str());
}

// Makes EXPIRED of CAUSE_EXPIRED.
inline std::string WithoutPrefix(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

inline std::string Word(pb::Cause cause) { return WithoutPrefix(pb::Cause_Name(cause), "CAUSE_"); }

// Which replica to talk to. Any will do; whoever meets a broken one moves on to the next.
class Replicas {
 public:
  using Service = std::shared_ptr<pb::ElectionService::Stub>;

  explicit Replicas(const std::string& endpoints) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);  // the service allows 5 s
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // Short beside a lease: a replica that was restarted is found again before the lease is over.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 3'000);  // to connect may take so long
    std::istringstream list(endpoints);
    for (std::string endpoint; std::getline(list, endpoint, ',');) {
      services_.push_back(pb::ElectionService::NewStub(
          grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  bool none() const { return services_.empty(); }
  const Service& Current() const { return services_.front(); }
  void Answered() { failures_ = 0; }

  // Answers how long to wait before the next try: longer each time, and never in step.
  nanoseconds Failed(const Service& service) {
    if (service == Current())
      std::rotate(services_.begin(), services_.begin() + 1, services_.end());
    failures_ = std::min(failures_ + 1, 5);
    const auto longest = std::chrono::milliseconds(30 << failures_);
    const double part = std::uniform_real_distribution(0.5, 1.0)(random_);
    return std::chrono::duration_cast<nanoseconds>(longest * part);
  }

 private:
  std::vector<Service> services_;
  int failures_ = 0;
  std::minstd_rand random_{std::random_device()()};
};
