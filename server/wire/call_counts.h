// Counts the calls of gRPC services, under the names that gRPC servers commonly use.
//
// All methods' children are created at the start. Calls of other services, and of methods that
// do not exist, are not counted. The metrics must outlive it. Thread-safe.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>

#include <array>
#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

#include "metrics/metrics.h"

namespace tenure::wire {

class CallCounts {
 public:
  CallCounts(Metrics& metrics,
             const std::vector<const google::protobuf::ServiceDescriptor*>& services);

  static constexpr size_t kCodes = 17;
  struct Method {
    prometheus::Counter* started;
    std::array<prometheus::Counter*, kCodes> handled;
    prometheus::Histogram* handling_seconds;
    prometheus::Counter* received;
    prometheus::Counter* sent;
  };
  // By "/package.Service/Method". Null: it is not counted.
  [[nodiscard]] const Method* Find(const std::string& path) const;

  // Once for each call that ends.
  void CountEnd(const Method& method, std::chrono::steady_clock::time_point started_at,
                const grpc::Status& status) const;

 private:
  void Add(Metrics& metrics, const google::protobuf::MethodDescriptor& method);

  std::unordered_map<std::string, Method> methods_;
  std::unordered_map<std::string, prometheus::Counter*> refused_;  // by the reason
};

}  // namespace tenure::wire
