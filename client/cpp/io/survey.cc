#include "client/cpp/io/survey.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "client/cpp/io/async_call.h"
#include "client/cpp/machine/call_error.h"
#include "proto/rich_status.h"

namespace tenure {

tl::expected<std::string, grpc::Status> SurveyResult::Choose(const KnownService& known) const {
  auto chosen = ChooseService(known, answers);
  if (chosen || chosen.error().error_code() != grpc::StatusCode::UNAVAILABLE) return chosen;
  if (failures.empty()) return chosen;
  const bool too_old = std::ranges::any_of(failures, [](const auto& failure) {
    return failure.second.error_code() == grpc::StatusCode::UNIMPLEMENTED;
  });
  if (too_old) return "";
  return tl::unexpected(failures.begin()->second);
}

grpc::Status Settle(const SurveyResult& result, Connection& connection, ClientLog& log,
                    Lease::Time now, const std::function<void()>& replaced) {
  for (const auto& [endpoint, status] : result.failures) {
    // An endpoint too old to know this call may be used.
    if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) log.Heard(endpoint, status, now);
  }
  const std::string known = connection.service().id;
  const auto chosen = result.Choose(connection.service());
  if (!chosen && IsWrongService(chosen.error())) {
    log.Heard(chosen.error(), now);
    connection.SurveyFailed();
    ErrorDetails details = DetailsOf(chosen.error());
    details.retry_delay = connection.RefusedPause();
    return RichStatus(chosen.error().error_code(), chosen.error().error_message(), details);
  }
  if (!chosen) {
    const auto failure = result.failures.begin();
    connection.SurveyFailed();
    return failure == result.failures.end() ? chosen.error()
                                            : connection.Explained(failure->second, failure->first);
  }
  log.Heard(grpc::Status::OK, now);
  const bool is_replaced = !known.empty() && !chosen->empty() && *chosen != known;
  if (is_replaced) {
    log.Say({.event = LogEvent::kOtherService,
             .message = "most endpoints belong to service " + *chosen + " now, not to " + known +
                        ": the service was replaced"});
  }
  connection.Use(*chosen, result.answers);
  for (const EndpointAnswer& answer : result.answers) {
    if (answer.service_id.value_or(*chosen) == *chosen) continue;
    log.OtherService(answer.endpoint, *answer.service_id, *chosen);
  }
  if (is_replaced) replaced();
  return grpc::Status::OK;
}

bool HearService(const std::string& endpoint, const std::string& service_id, Connection& connection,
                 ClientLog& log) {
  // A late answer may overtake the end of its survey. It must not choose the service.
  if (connection.service().id.empty() || connection.Belongs(endpoint, service_id)) return true;
  log.OtherService(endpoint, service_id, connection.service().id);
  return false;
}

std::shared_ptr<Survey> Survey::Start(Connection& connection,
                                      std::chrono::system_clock::time_point deadline, Done done,
                                      Late late) {
  using Call = AsyncCall<v1::ElectionService::Stub, v1::IdentifyRequest, v1::IdentifyResponse>;
  std::vector<EndpointAnswer> endpoints;
  std::vector<std::shared_ptr<Call>> calls;
  for (size_t i = 0; i < connection.size(); ++i) {
    endpoints.push_back({connection.endpoint(i), std::nullopt});
    calls.push_back(std::make_shared<Call>(connection, connection.stub(i)));
    calls.back()->context.set_deadline(deadline);
  }
  std::shared_ptr<Survey> survey(
      new Survey(connection.service(), std::move(endpoints), std::move(done), std::move(late)));
  {
    const MutexLock lock(survey->mutex_);
    for (const auto& call : calls) {
      survey->calls_.push_back(std::shared_ptr<grpc::ClientContext>(call, &call->context));
    }
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto& call = calls[i];
    call->stub->async()->Identify(&call->context, &call->request, &call->response,
                                  [survey, call, i](const grpc::Status& status) {
                                    survey->OnAnswer(i, status, call->response);
                                  });
  }
  return survey;
}

void Survey::Cancel() {
  std::vector<std::weak_ptr<grpc::ClientContext>> calls;
  {
    const MutexLock lock(mutex_);
    calls = calls_;
  }
  for (const auto& call : calls) {
    if (const auto context = call.lock()) context->TryCancel();
  }
}

void Survey::OnAnswer(size_t index, const grpc::Status& status,
                      const v1::IdentifyResponse& response) {
  const bool identified = status.ok() && !response.service_id().empty();
  std::optional<SurveyResult> result;
  std::vector<EndpointAnswer> late;
  {
    const MutexLock lock(mutex_);
    --missing_;
    EndpointAnswer& answer = result_.answers[index];
    if (told_) {
      if (identified)
        (reported_ ? late : held_).push_back({answer.endpoint, response.service_id()});
    } else {
      if (identified) answer.service_id = response.service_id();
      if (!status.ok()) result_.failures[answer.endpoint] = status;
      told_ = missing_ == 0 || MostAgree(known_, result_.answers);
      if (told_) result = result_;
    }
  }
  if (result) {
    done_(*std::move(result));
    const MutexLock lock(mutex_);
    reported_ = true;
    late = std::exchange(held_, {});
  }
  for (const EndpointAnswer& answer : late) late_(answer.endpoint, *answer.service_id);
}

}  // namespace tenure
