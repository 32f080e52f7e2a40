// Which service the endpoints of a session belong to.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "client/client_log.h"
#include "client/client_loop.h"
#include "client/connection.h"
#include "client/survey.h"

namespace tenure {

// Asks the endpoints before a session is opened, and again while it lasts if most of them may
// belong to another service: then the session is told that its service was replaced. Of the loop's
// thread.
class ServiceWatch {
 public:
  using Found = std::function<void(ClientSession&, Lease::Time now, const grpc::Status&)>;

  // Borrows the connection and the log.
  ServiceWatch(Connection& connection, ClientLog& log,
               std::shared_ptr<Mailbox<ClientLoop::Input>> mailbox)
      : connection_(connection), log_(log), mailbox_(std::move(mailbox)) {}

  // `found` is called on the loop's thread, even after Cancel.
  void Ask(Lease::Time now, std::chrono::system_clock::time_point deadline, Found found);
  void Cancel();
  // Asks, if it is time to ask again.
  void LookAgain(const ClientSession& session, Lease::Time now);
  [[nodiscard]] Lease::Time NextAt(const ClientSession& session) const;

  // What a call to this endpoint has met: logs what is wrong with it, or that nothing is any more.
  // Answers with the same error, explained.
  grpc::Status Heard(const std::string& endpoint, const grpc::Status& status, Lease::Time now);
  // The error of an answer that came from a replica of another service: it counts for nothing.
  grpc::Status OfTheService(const std::string& endpoint, const std::string& service_id,
                            const grpc::Status& status);

 private:
  Connection& connection_;
  ClientLog& log_;
  const std::shared_ptr<Mailbox<ClientLoop::Input>> mailbox_;
  std::shared_ptr<Survey> survey_;  // the latest: late answers may still come
  int under_way_ = 0;
};

}  // namespace tenure
