// The methods of a server. Every call of every service begins here: it is counted, and refused if
// its request is not a valid message of its method.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "core/error.h"
#include "server/wire/call_counts.h"
#include "server/wire/server_call.h"

namespace tenure::wire {

[[nodiscard]] Error MalformedRequest();

// Maximum size of a request. Valid ones are at most a quarter as large, except for LargeRequests.
inline constexpr size_t kRequestBytesMax = 64 << 10;

// How large the requests of a method may be. Those above kRequestBytesMax are parsed only if
// `may_send` admits the caller.
struct LargeRequests {
  size_t bytes_max = kRequestBytesMax;
  std::function<Result<void>(const grpc::ServerContextBase&)> may_send = nullptr;
};

inline constexpr std::chrono::seconds kFirstMessagePatience{10};

// Ends a call before it has begun.
void Refuse(ServerCall& call, const Error& error);

// How its calls begin, on a queue's thread: neither function may block.
struct Method {
  std::function<void(ServerCall&, grpc::ByteBuffer&)> begin;  // with its one request
  std::function<void(ServerCall&)> begin_stream;              // or without one
  const CallCounts::Method* counts = nullptr;                 // null: they are not counted
};

// Methods are added before the server is built; afterwards it is thread-safe. Must outlive the
// server and its queues.
class Dispatcher {
 public:
  // Counts the calls of the services in `counted`. Cancels calls that send no message for up to
  // twice `patience`.
  Dispatcher(Metrics& metrics,
             const std::vector<const google::protobuf::ServiceDescriptor*>& counted,
             std::chrono::milliseconds patience = kFirstMessagePatience)
      : counts_(metrics, counted), patience_(patience) {}
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // A method with one request, valid until `handle` returns; `object` must outlive the server.
  template <typename Service, typename Request>
  void Add(const google::protobuf::ServiceDescriptor& service, const std::string& method,
           Service& object, void (Service::*handle)(ServerCall&, const Request&),
           const LargeRequests& large = {}) {
    Add(service, method).begin = [&object, handle, large](ServerCall& call,
                                                          grpc::ByteBuffer& bytes) {
      if (const auto fits = CheckSize(call, bytes.Length(), large); !fits) {
        return Refuse(call, fits.error());
      }
      Request request;
      if (!call.Receive(bytes, request)) return Refuse(call, MalformedRequest());
      (object.*handle)(call, request);
    };
  }
  // A method that reads a stream of requests.
  template <typename Service>
  void AddStream(const google::protobuf::ServiceDescriptor& service, const std::string& method,
                 Service& object, void (Service::*handle)(ServerCall&)) {
    Add(service, method).begin_stream = [&object, handle](ServerCall& call) {
      (object.*handle)(call);
    };
  }

  // The same method at another path.
  void AddAlias(const std::string& alias, const std::string& path) {
    methods_[alias] = methods_.at(path);
  }

  void RegisterWith(grpc::ServerBuilder& builder) {
    builder.RegisterAsyncGenericService(&service_);
  }
  // Runs the queue, and waits for calls on it. Once for each queue, after the server was built.
  void Serve(Queue& queue);
  // Soon cancels the open calls for which `which` is true; it runs on the queues' threads.
  // Thread-safe; not after ShutDown.
  void Cancel(const QueueCalls::Which& which);
  // Stops taking calls, cancels those that are open at the deadline, and waits until all have
  // ended: then the queues may go.
  void ShutDown(grpc::Server& server, std::chrono::system_clock::time_point deadline);

  // The full names of the services.
  [[nodiscard]] const std::set<std::string>& services() const { return services_; }
  // Calls that have begun, and have not ended.
  [[nodiscard]] size_t open_calls() const { return calls_ - awaited_; }

 private:
  friend class ServerCall;

  [[nodiscard]] Method& Add(const google::protobuf::ServiceDescriptor& service,
                            const std::string& method);
  [[nodiscard]] const Method* Find(const std::string& path) const;
  // Checked before parsing, which blocks the thread that serves all calls: 4 MB took 0.2 s.
  [[nodiscard]] static Result<void> CheckSize(const ServerCall& call, size_t bytes,
                                              const LargeRequests& large);

  const CallCounts counts_;
  const std::chrono::milliseconds patience_;
  std::set<std::string> services_;
  std::unordered_map<std::string, Method> methods_;  // by "/package.Service/Method"
  grpc::AsyncGenericService service_;
  std::vector<std::unique_ptr<QueueCalls>> calls_of_queues_;
  std::atomic<size_t> calls_ = 0;    // that are awaited or open
  std::atomic<size_t> awaited_ = 0;  // of these
  Mutex mutex_;
  ConditionVariable no_calls_;
};

}  // namespace tenure::wire
