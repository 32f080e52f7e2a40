#include "client/cpp/io/service_watch.h"

#include <utility>

#include "client/cpp/machine/call_error.h"

namespace tenure {

void ServiceWatch::Ask(Lease::Time now, std::chrono::system_clock::time_point deadline,
                       Found found) {
  Cancel();
  ++under_way_;
  connection_.SurveyBegins(now);
  survey_ = Survey::Start(
      connection_, deadline,
      [this, found = std::move(found), mailbox = mailbox_](const SurveyResult& result) {
        mailbox->Put([this, found, result](ClientSession& session, Lease::Time now) {
          --under_way_;
          const grpc::Status status =
              Settle(result, connection_, log_, now, [&] { session.OnServiceReplaced(now); });
          found(session, now, status);
        });
      },
      [this, mailbox = mailbox_](const std::string& endpoint, const std::string& service_id) {
        mailbox->Put([this, endpoint, service_id](ClientSession&, Lease::Time) {
          HearService(endpoint, service_id, connection_, log_);
        });
      });
}

void ServiceWatch::Cancel() {
  if (survey_ != nullptr) survey_->Cancel();
}

void ServiceWatch::LookAgain(const ClientSession& session, Lease::Time now) {
  if (now < NextAt(session)) return;
  Ask(now, std::chrono::system_clock::now() + kSurveyPatience,
      [](ClientSession&, Lease::Time, const grpc::Status&) {});
}

Lease::Time ServiceWatch::NextAt(const ClientSession& session) const {
  return session.id().empty() || under_way_ > 0 ? Lease::Time::max() : connection_.survey_at();
}

grpc::Status ServiceWatch::Heard(const std::string& endpoint, const grpc::Status& status,
                                 Lease::Time now) {
  log_.Heard(endpoint, status, now);
  if (IsWrongService(status)) {
    HearService(endpoint, MetadataOf(status, "service_id"), connection_, log_);
    connection_.Refused();
  }
  return connection_.Explained(status, endpoint);
}

grpc::Status ServiceWatch::OfTheService(const std::string& endpoint, const std::string& service_id,
                                        const grpc::Status& status) {
  if (!status.ok() || connection_.Belongs(endpoint, service_id)) return status;
  return WrongService(service_id);
}

}  // namespace tenure
