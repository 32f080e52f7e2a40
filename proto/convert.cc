#include "proto/convert.h"

namespace tenure {
namespace {

constexpr int kHeartbeatsPerLease = 3;

}  // namespace

v1::Cause ToProto(Cause cause) { return static_cast<v1::Cause>(cause); }

v1::Session ToProto(const Session& session) {
  v1::Session message;
  message.set_session_id(session.id.Hex());
  message.set_candidate(session.candidate);
  *message.mutable_lease_ttl() = ToProto(session.lease_ttl);
  *message.mutable_heartbeat_interval() = HeartbeatInterval(session);
  return message;
}

google::protobuf::Duration HeartbeatInterval(const Session& session) {
  return ToProto(session.lease_ttl / kHeartbeatsPerLease);
}

v1::Leadership ToProto(const Leadership& leadership) {
  v1::Leadership message;
  message.set_election(leadership.election.bytes);
  message.set_term(leadership.term.value);
  message.set_candidate(leadership.leader.candidate);
  message.set_value(leadership.leader.value);
  *message.mutable_elected_time() = ToProto(leadership.leader.elected_at);
  *message.mutable_lease_ttl() = ToProto(leadership.leader.lease_ttl);
  message.set_successor(leadership.successor);
  return message;
}

v1::Event ToProto(const Event& event) {
  v1::Event message;
  message.set_election(event.election.bytes);
  message.set_revision(event.revision.value);
  message.set_type(static_cast<v1::Event::Type>(event.type));
  *message.mutable_leadership() =
      ToProto(Leadership{event.election, event.term, event.leader, event.successor});
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
  if (const auto leader = LeadershipOf(*election)) *message.mutable_leader() = ToProto(*leader);
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

}  // namespace tenure
