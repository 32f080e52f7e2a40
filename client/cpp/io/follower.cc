#include "client/cpp/io/follower.h"

#include <algorithm>
#include <future>
#include <utility>

#include "client/cpp/io/holder_clock.h"
#include "client/cpp/io/observe_stream.h"
#include "client/cpp/io/survey.h"
#include "client/cpp/machine/call_error.h"

namespace tenure {
namespace {

// An observer that may not see these elections, or not this many, gets the error instead.
bool IsFinal(const grpc::Status& status) {
  if (ReasonOf(status) == "OBSERVE_TOO_WIDE") return true;
  return !IsTransient(status) &&
         (!IsRefusedForNow(status) || status.error_code() == grpc::StatusCode::PERMISSION_DENIED);
}

grpc::Status Silent(std::chrono::milliseconds patience) {
  return {grpc::StatusCode::UNAVAILABLE,
          "the stream was silent for " + std::to_string(patience.count()) + " ms"};
}

grpc::Status Gap(const v1::ObserveResponse& response) {
  const bool event = response.has_event();
  const std::string& election =
      event ? response.event().election() : response.snapshot().election();
  const uint64_t revision = event ? response.event().revision() : response.snapshot().revision();
  return {grpc::StatusCode::UNAVAILABLE, "the stream skipped changes of " + election +
                                             " before revision " + std::to_string(revision)};
}

}  // namespace

grpc::Status Follower::Run(std::shared_ptr<grpc::ChannelCredentials> credentials) {
  Connection connection(options_.endpoints, credentials, HealthCheck::kOff, options_.service_id);
  ClientLog log(options_.log, std::move(credentials), [](const auto& task) { task(); });
  const grpc::Status status = FollowStreams(connection, log);
  const MutexLock lock(mutex_);
  if (survey_ != nullptr) survey_->Cancel();
  return status;
}

grpc::Status Follower::FollowStreams(Connection& connection, ClientLog& log) {
  while (true) {
    const grpc::Status found = FindService(connection, log);
    const std::string endpoint = connection.endpoint();
    const grpc::Status met = found.ok() ? FollowOneStream(connection, log) : found;
    if (Stopped()) return grpc::Status::OK;
    if (found.ok()) log.Heard(endpoint, met, HolderNow());
    if (found.ok() && IsWrongService(met)) {
      HearService(endpoint, MetadataOf(met, "service_id"), connection, log);
    }
    const grpc::Status status = found.ok() ? connection.Explained(met, endpoint) : found;
    if (IsFinal(status)) return status;
    listener_.broken(status);
    connection.MoveOn();
    const auto pause = IsTransient(status) ? connection.Backoff() : connection.RefusedPause();
    MutexLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + std::max(pause, RetryDelayOf(status));
    while (!stopped_ && stop_.WaitUntil(lock, until)) continue;
    if (stopped_) return grpc::Status::OK;
  }
}

void Follower::Stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
  if (stream_ != nullptr) stream_->Cancel();
  if (survey_ != nullptr) survey_->Cancel();
  stop_.NotifyAll();
}

bool Follower::Stopped() {
  const MutexLock lock(mutex_);
  return stopped_;
}

grpc::Status Follower::FindService(Connection& connection, ClientLog& log) {
  if (!connection.needs_survey()) return grpc::Status::OK;
  connection.SurveyBegins(HolderNow());
  const auto done = std::make_shared<std::promise<SurveyResult>>();
  const auto survey = Survey::Start(
      connection, std::chrono::system_clock::now() + kSurveyPatience,
      [done](SurveyResult result) { done->set_value(std::move(result)); },
      [late = late_](const std::string& endpoint, const std::string& service_id) {
        late->Put({endpoint, service_id});
      });
  {
    const MutexLock lock(mutex_);
    if (survey_ != nullptr) survey_->Cancel();
    survey_ = survey;
    if (stopped_) survey->Cancel();
  }
  const SurveyResult result = done->get_future().get();
  return Settle(result, connection, log, HolderNow(), [this] {
    // Revisions are those of the other service.
    observation_ = Observation({options_.wish.names, options_.wish.prefix});
    listener_.replaced();
  });
}

void Follower::HearLateAnswers(Connection& connection, ClientLog& log) {
  while (const auto late = late_->Take({})) {
    HearService(late->endpoint, *late->service_id, connection, log);
  }
}

grpc::Status Follower::FollowOneStream(Connection& connection, ClientLog& log) {
  const auto stream = ObserveStream::Open(connection, observation_.Request());
  {
    const MutexLock lock(mutex_);
    stream_ = stream;
    if (stopped_) stream->Cancel();
  }
  const grpc::Status met = Follow(*stream, connection, log);
  {
    const MutexLock lock(mutex_);
    stream_.reset();
  }
  const grpc::Status status = stream->Finish();
  if (!met.ok()) return met;
  return status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server ended the stream")
                     : status;
}

// OK: the stream ended by itself, and knows why.
grpc::Status Follower::Follow(ObserveStream& stream, Connection& connection, ClientLog& log) {
  while (true) {
    const auto read = stream.Read(options_.silence_max);
    HearLateAnswers(connection, log);
    if (read.outcome == ObserveStream::Outcome::kSilent) {
      connection.Reconnect();
      return Silent(options_.silence_max);
    }
    if (read.outcome == ObserveStream::Outcome::kEnded || Stopped()) return grpc::Status::OK;
    if (!connection.Belongs(connection.endpoint(), read.response.service_id())) {
      return WrongService(read.response.service_id());
    }
    if (HolderNow() >= connection.survey_at()) {
      const std::string used = connection.service().id;
      (void)FindService(connection, log);
      if (connection.service().id != used) return WrongService(used);
    }
    connection.Succeeded();
    log.Heard(connection.endpoint(), grpc::Status::OK, HolderNow());
    switch (observation_.Note(read.response)) {
      case Observation::Verdict::kNews: listener_.on_response(read.response); break;
      case Observation::Verdict::kKnown: break;
      case Observation::Verdict::kGap: return Gap(read.response);
    }
  }
}

}  // namespace tenure
