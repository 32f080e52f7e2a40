// Why an endpoint cannot be used, in plain words. Pure.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "core/lease.h"

namespace tenure {

struct Trouble {
  // Two troubles of one kind look the same to a user.
  enum class Kind {
    kRefused,  // nobody listens
    kNoSuchHost,
    kNoAnswer,
    kBroken,  // the connection was established, and is gone
    kNotGrpc,
    kWantsTls,  // or speaks something else
    kNoTls,
    kCertificate,  // of the service
    kRefusesTls,   // the service rejects our certificate, or wants one
    kNotTenure,
    kNotReady,
    kDatabase,
    kBusy,
    kDenied,
    kWrongService,
    kOther,
  };
  Kind kind;
  std::string text;  // without the endpoint: "connection refused"
};

// REQUIRES: an error. `tls`: the connection uses TLS.
[[nodiscard]] Trouble Explain(const grpc::Status& status, bool tls);
// The same error, with a message that names the endpoint and explains gRPC's text. The service's
// own text is kept.
[[nodiscard]] grpc::Status Explained(const grpc::Status& status, const std::string& endpoint,
                                     bool tls);

// Decides what to log about the endpoints of a client: each trouble once, and its end once. Not
// thread-safe.
class TroubleLog {
 public:
  using Time = Lease::Time;

  // Whether to log this: it is new, or of another kind than the one logged a while ago.
  [[nodiscard]] bool Failed(const std::string& endpoint, Trouble::Kind kind, Time now);
  // How long it had failed; nothing if it had not.
  [[nodiscard]] std::optional<Time::duration> Answered(const std::string& endpoint, Time now);

 private:
  struct State {
    Time since;
    Time said_at;
    Trouble::Kind said;
  };
  std::map<std::string, State> failing_;  // at most one for each endpoint
};

// "12 s", "300 ms"
[[nodiscard]] std::string DurationText(Lease::Time::duration duration);

}  // namespace tenure
