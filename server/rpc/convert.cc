#include "server/rpc/convert.h"

#include <algorithm>

namespace tenure::rpc {
namespace {

constexpr size_t kPlacesShownMax = 1000;

}  // namespace

v1::Election ToProto(const Election& election) {
  v1::Election message;
  message.set_name(election.name.bytes);
  message.set_term(election.term.value);
  message.set_revision(election.revision.value);
  if (const auto leader = LeadershipOf(election)) *message.mutable_leader() = ToProto(*leader);
  message.set_candidates(election.waiting);
  message.set_paused(election.paused);
  if (election.vacant_until > DbTime{}) {
    *message.mutable_vacant_until() = ToProto(election.vacant_until);
  }
  if (election.appointment) {
    v1::Appointment& appointment = *message.mutable_appointment();
    appointment.set_candidate(election.appointment->candidate);
    const auto& until = election.appointment->until;
    if (until) *appointment.mutable_reserved_until() = ToProto(*until);
  }
  v1::ElectionSettings& settings = *message.mutable_settings();
  *settings.mutable_lock_delay() = ToProto(election.settings.lock_delay);
  *settings.mutable_min_hold() = ToProto(election.settings.min_hold);
  *settings.mutable_default_lease_ttl() = ToProto(election.settings.lease_ttl_default);
  *settings.mutable_max_lease_ttl() = ToProto(election.settings.lease_ttl_max);
  settings.set_max_candidates(election.settings.queue_max);
  return message;
}

v1::Election ToProto(const ElectionView& view) {
  v1::Election message = ToProto(view.election);
  if (!view.LeaderAlive()) message.clear_leader();
  if (message.has_leader()) *message.mutable_lease_left() = ToProto(view.lease_left);
  return message;
}

v1::Candidate ToProto(const QueueEntry& entry) {
  v1::Candidate message;
  message.set_candidate(entry.candidacy.candidate);
  message.set_session_handle(entry.candidacy.session.Handle());
  message.set_priority(entry.candidacy.priority);
  message.set_value(entry.candidacy.value);
  *message.mutable_lease_left() = ToProto(entry.lease_left);
  if (entry.cools_down_until) {
    *message.mutable_cools_down_until() = ToProto(*entry.cools_down_until);
  }
  return message;
}

v1::TermRecord ToProto(const TermRecord& record) {
  v1::TermRecord message;
  message.set_term(record.term.value);
  message.set_candidate(record.candidate);
  *message.mutable_start_time() = ToProto(record.began_at);
  if (record.ended_at) *message.mutable_end_time() = ToProto(*record.ended_at);
  message.set_cause(ToProto(record.cause));
  return message;
}

v1::Change ToProto(const AdminRecord& record) {
  const AdminChange& change = record.change;
  v1::Change message;
  message.set_election(change.election.bytes);
  message.set_action(static_cast<v1::Change::Action>(change.action));
  message.set_term(change.term.value);
  *message.mutable_time() = ToProto(change.at);
  message.set_detail(change.detail);
  message.set_identity(change.author.identity);
  message.set_reason(change.author.reason);
  return message;
}

v1::SessionInfo ToProto(const SessionView& view) {
  v1::SessionInfo message;
  message.set_handle(view.session.id.Handle());
  message.set_candidate(view.session.candidate);
  *message.mutable_open_time() = ToProto(view.session.opened_at);
  *message.mutable_lease_ttl() = ToProto(view.session.lease_ttl);
  *message.mutable_lease_left() = ToProto(view.lease_left);
  const auto add = [](const std::vector<ElectionName>& names, auto& field) {
    for (size_t i = 0; i < std::min(names.size(), kPlacesShownMax); ++i) {
      field.Add()->assign(names[i].bytes);
    }
  };
  add(view.leads, *message.mutable_leads());
  add(view.waits, *message.mutable_waits());
  return message;
}

}  // namespace tenure::rpc
