// Observes elections, from one replica to the next, without a gap: what `Observer` and the command
// line tool run.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "client/cpp/io/client_log.h"
#include "client/cpp/io/connection.h"
#include "client/cpp/io/mailbox.h"
#include "client/cpp/machine/observation.h"

namespace tenure {

class ObserveStream;
class Survey;

// Three times the maximum silence that the contract allows.
inline constexpr std::chrono::seconds kSilenceMax{30};

class Follower {
 public:
  struct Options {
    std::string endpoints;
    Observation::Wish wish;
    std::chrono::milliseconds silence_max = kSilenceMax;
    Log log = nullptr;
    std::string service_id = "";
  };
  // Called on the thread that calls Run.
  struct Listener {
    // Only news: repetitions on a stream are left out.
    std::function<void(const v1::ObserveResponse&)> on_response;
    // A stream broke, or could not be opened, and will be tried again.
    std::function<void(const grpc::Status&)> broken = [](const grpc::Status&) {};
    // The endpoints belong to another service now: nothing that was reported holds.
    std::function<void()> replaced = [] {};
  };

  // Starts no thread, and lets gRPC start none.
  Follower(Options options, Listener listener)
      : options_(std::move(options)), listener_(std::move(listener)), observation_(options_.wish) {}

  // Runs until it is stopped (OK), or an error is permanent. Null credentials: without TLS.
  [[nodiscard]] grpc::Status Run(std::shared_ptr<grpc::ChannelCredentials> credentials);
  // From any thread, before or during Run. Does not wait.
  void Stop();

 private:
  [[nodiscard]] bool Stopped();
  [[nodiscard]] grpc::Status FollowStreams(Connection& connection, ClientLog& log);
  // Asks the endpoints which service they belong to, if necessary.
  [[nodiscard]] grpc::Status FindService(Connection& connection, ClientLog& log);
  void HearLateAnswers(Connection& connection, ClientLog& log);
  // Returns why the stream ended, which is never OK.
  [[nodiscard]] grpc::Status FollowOneStream(Connection& connection, ClientLog& log);
  [[nodiscard]] grpc::Status Follow(ObserveStream& stream, Connection& connection, ClientLog& log);

  const Options options_;
  const Listener listener_;

  Mutex mutex_;
  ConditionVariable stop_;
  bool stopped_ TENURE_GUARDED_BY(mutex_) = false;
  std::shared_ptr<ObserveStream> stream_ TENURE_GUARDED_BY(mutex_);  // while one is open
  std::shared_ptr<Survey> survey_ TENURE_GUARDED_BY(mutex_);         // the latest, if any
  // Answers of endpoints after the survey was done; read when the stream delivers something.
  const std::shared_ptr<Mailbox<EndpointAnswer>> late_ =
      std::make_shared<Mailbox<EndpointAnswer>>();

  Observation observation_;  // for the thread that calls Run
};

}  // namespace tenure
