#include "client/tool/election_text.h"

#include "base/duration_text.h"
#include "client/tool/moments.h"
#include "proto/time.h"

namespace tenure {
namespace {

Json AppointmentJson(const v1::Election& election) {
  if (!election.has_appointment()) return nullptr;
  const v1::Appointment& appointment = election.appointment();
  return {
      {"candidate", appointment.candidate()},
      {"reserved_until", TimeJson(appointment.has_reserved_until(), appointment.reserved_until())}};
}

Json SettingsJson(const v1::ElectionSettings& settings) {
  return {{"lock_delay_ms", MillisOf(settings.lock_delay())},
          {"min_hold_ms", MillisOf(settings.min_hold())},
          {"default_lease_ttl_ms", MillisOf(settings.default_lease_ttl())},
          {"max_lease_ttl_ms", MillisOf(settings.max_lease_ttl())},
          {"max_candidates", settings.max_candidates()}};
}

void Append(std::string& text, const std::string& more) {
  text += (text.empty() ? "" : ", ") + more;
}

// " (25s)" for a time that is still to come.
std::string Until(bool set, const google::protobuf::Timestamp& time, DbTime now) {
  const Duration left = FromProto(time) - now;
  return set && left > Duration(0) ? " (" + AgeText(left) + ")" : "";
}

}  // namespace

Json TimeJson(bool set, const google::protobuf::Timestamp& time) {
  return set ? Json(UtcText(time)) : Json(nullptr);
}

Json ToJson(const v1::Election& election) {
  const bool led = election.has_leader();
  const v1::Leadership& leader = election.leader();
  return {{"election", election.name()},
          {"term", election.term()},
          {"revision", election.revision()},
          {"leader", led ? Json(leader.candidate()) : Json(nullptr)},
          {"value", led ? Json(leader.value()) : Json(nullptr)},
          {"elected_time", TimeJson(led, leader.elected_time())},
          {"lease_ttl_ms", led ? Json(MillisOf(leader.lease_ttl())) : Json(nullptr)},
          {"lease_left_ms",
           election.has_lease_left() ? Json(MillisOf(election.lease_left())) : Json(nullptr)},
          {"candidates", election.candidates()},
          {"paused", election.paused()},
          {"vacant_until", TimeJson(election.has_vacant_until(), election.vacant_until())},
          {"appointment", AppointmentJson(election)},
          {"settings", SettingsJson(election.settings())}};
}

std::string StateText(const v1::Election& election, DbTime now) {
  std::string text;
  if (!election.has_leader()) Append(text, "vacant");
  if (election.paused()) Append(text, "paused");
  if (election.has_appointment()) {
    const v1::Appointment& appointment = election.appointment();
    const std::string& candidate = appointment.candidate();
    Append(text, (election.has_leader() ? "handover to " : "kept for ") + candidate +
                     Until(appointment.has_reserved_until(), appointment.reserved_until(), now));
  }
  if (election.has_vacant_until()) {
    const std::string left = Until(true, election.vacant_until(), now);
    if (!left.empty()) Append(text, "kept empty" + left);
  }
  return text;
}

std::string SettingsText(const v1::ElectionSettings& settings) {
  std::string text;
  const auto add = [&](const std::string& name, const google::protobuf::Duration& message) {
    const Duration duration = DurationOf(message);
    if (duration != Duration(0)) Append(text, name + " " + DurationText(duration));
  };
  add("lock-delay", settings.lock_delay());
  add("min-hold", settings.min_hold());
  add("default-ttl", settings.default_lease_ttl());
  add("max-ttl", settings.max_lease_ttl());
  if (settings.max_candidates() != 0) {
    Append(text, "max-candidates " + std::to_string(settings.max_candidates()));
  }
  return text.empty() ? "none (server defaults)" : text;
}

std::vector<Column> ElectionColumns() {
  return {{.title = "ELECTION", .width_max = 60, .elastic = true},
          {.title = "LEADER", .width_max = 40, .elastic = true},
          {.title = "TERM", .align = Align::kRight},
          {.title = "LED FOR", .align = Align::kRight},
          {.title = "LEASE", .align = Align::kRight},
          {.title = "QUEUE", .align = Align::kRight},
          {.title = "STATE", .width_max = 60, .elastic = true}};
}

std::vector<std::string> ElectionCells(const v1::Election& election, DbTime now) {
  const bool led = election.has_leader();
  const v1::Leadership& leader = election.leader();
  return {election.name(),
          led ? leader.candidate() : "-",
          std::to_string(election.term()),
          led ? AgeText(now - FromProto(leader.elected_time())) : "-",
          election.has_lease_left() ? LeftText(DurationOf(election.lease_left())) : "-",
          std::to_string(election.candidates()),
          StateText(election, now)};
}

}  // namespace tenure
