// Which service the endpoints of a session belong to.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "client/cpp/io/client_log.h"
#include "client/cpp/io/client_loop.h"
#include "client/cpp/io/connection.h"
#include "client/cpp/io/survey.h"

namespace tenure {

// Asks the endpoints before a session is opened, and again while it lasts if most of them may
// belong to another service. If they do, it ends the session: its service was replaced. Only for
// the loop's thread.
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
  // Asks again, if it is time.
  void LookAgain(const ClientSession& session, Lease::Time now);
  [[nodiscard]] Lease::Time NextAt(const ClientSession& session) const;

  // Takes in the outcome of a call to this endpoint: logs its trouble or its recovery. Returns the
  // same error, explained.
  grpc::Status Heard(const std::string& endpoint, const grpc::Status& status, Lease::Time now);
  // WRONG_SERVICE if the answer came from a replica of another service and must be ignored; else
  // the status unchanged.
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
