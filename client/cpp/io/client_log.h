// Logs what happens to a client: each trouble of an endpoint once, and its end once.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/cpp/machine/trouble.h"
#include "tenure/log.h"

namespace tenure {

// Not thread-safe.
class ClientLog {
 public:
  // Runs tasks that may take seconds. The log is called there.
  using Run = std::function<void(std::function<void()>)>;

  // An empty log logs nothing. Null credentials: without TLS.
  ClientLog(Log log, std::shared_ptr<grpc::ChannelCredentials> credentials, Run run)
      : log_(std::move(log)), credentials_(std::move(credentials)), run_(std::move(run)) {}

  // The outcome of a call or stream on this endpoint; OK while it works.
  void Heard(const std::string& endpoint, const grpc::Status& status, Lease::Time now);
  // This endpoint is not used because its replica works on another database. Logged once.
  void OtherService(const std::string& endpoint, const std::string& service_id,
                    const std::string& known);
  // Whether the endpoints agree on the service; an error if they do not.
  void Heard(const grpc::Status& agreement, Lease::Time now);
  void Say(LogEntry entry);
  // Why the service refuses a request: the text of an error that is not about one endpoint.
  [[nodiscard]] std::string Text(const grpc::Status& status) const {
    return Explain(status, credentials_ != nullptr).text;
  }

 private:
  const Log log_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const Run run_;
  TroubleLog troubles_;
  std::map<std::string, std::string> others_;  // what was logged about endpoints of other services
};

}  // namespace tenure
