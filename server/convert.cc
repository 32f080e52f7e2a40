#include "server/convert.h"

#include <algorithm>
#include <cstdlib>

namespace tenure {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kProtoSecondsMax = 315'576'000'000;  // google.protobuf.Duration's own bound
constexpr Duration kDurationMax = std::chrono::hours(100 * 365 * 24);

template <typename Message>
Message SecondsAndNanos(Duration since) {
  Message message;
  message.set_seconds(since.count() / kMicrosPerSecond);
  message.set_nanos(static_cast<int32_t>(since.count() % kMicrosPerSecond * 1000));
  return message;
}

}  // namespace

google::protobuf::Duration ToProto(Duration duration) {
  return SecondsAndNanos<google::protobuf::Duration>(duration);
}

google::protobuf::Timestamp ToProto(DbTime time) {
  return SecondsAndNanos<google::protobuf::Timestamp>(time.since_epoch);
}

v1::Cause ToProto(Cause cause) { return static_cast<v1::Cause>(cause); }

v1::Session ToProto(const Session& session) {
  v1::Session message;
  message.set_session_id(session.id.Hex());
  message.set_candidate(session.candidate);
  *message.mutable_lease_ttl() = ToProto(session.lease_ttl);
  return message;
}

v1::Leadership ToProto(const Leadership& leadership) {
  v1::Leadership message;
  message.set_election(leadership.election.bytes);
  message.set_term(leadership.term.value);
  message.set_candidate(leadership.leader.candidate);
  message.set_value(leadership.leader.value);
  *message.mutable_elected_time() = ToProto(leadership.leader.elected_at);
  *message.mutable_lease_ttl() = ToProto(leadership.leader.lease_ttl);
  return message;
}

v1::Event ToProto(const Event& event) {
  v1::Event message;
  message.set_election(event.election.bytes);
  message.set_revision(event.revision.value);
  message.set_type(static_cast<v1::Event::Type>(event.type));
  *message.mutable_leadership() = ToProto(Leadership{event.election, event.term, event.leader});
  message.set_cause(ToProto(event.cause));
  *message.mutable_time() = ToProto(event.at);
  return message;
}

v1::Snapshot ToSnapshot(const ElectionName& name, const std::optional<Election>& election,
                        v1::Snapshot::Reason reason) {
  v1::Snapshot message;
  message.set_election(name.bytes);
  message.set_reason(reason);
  if (!election) return message;
  message.set_revision(election->revision.value);
  message.set_term(election->term.value);
  if (auto leader = LeadershipOf(*election)) *message.mutable_leader() = std::move(*leader);
  return message;
}

v1::ResignResponse::Outcome ToProto(ResignOutcome outcome) {
  switch (outcome) {
    case ResignOutcome::kResigned: return v1::ResignResponse::OUTCOME_RESIGNED;
    case ResignOutcome::kWithdrawn: return v1::ResignResponse::OUTCOME_WITHDRAWN;
    case ResignOutcome::kNotStanding: return v1::ResignResponse::OUTCOME_NOT_STANDING;
    case ResignOutcome::kSessionEnded: return v1::ResignResponse::OUTCOME_SESSION_ENDED;
  }
  return v1::ResignResponse::OUTCOME_UNSPECIFIED;
}

std::optional<v1::Leadership> LeadershipOf(const Election& election) {
  if (!election.leader) return std::nullopt;
  return ToProto(Leadership{election.name, election.term, *election.leader});
}

std::optional<Duration> FromProto(const google::protobuf::Duration& duration) {
  const int64_t seconds = duration.seconds();
  const int64_t nanos = duration.nanos();
  const bool signs_differ = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
  const bool valid = seconds >= -kProtoSecondsMax && seconds <= kProtoSecondsMax &&
                     std::abs(nanos) < kNanosPerSecond && !signs_differ;
  if (!valid) return std::nullopt;
  return std::clamp(Duration(seconds * kMicrosPerSecond + nanos / 1000), -kDurationMax,
                    kDurationMax);
}

}  // namespace tenure
