#include "core/types.h"

#include "base/hex.h"

namespace tenure {

std::string SessionId::Hex() const {
  return ToHex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string SessionId::Handle() const { return Hex().substr(0, bytes.size()); }

std::optional<SessionId> SessionId::FromHex(std::string_view hex) {
  SessionId id;
  if (hex.size() != 2 * id.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < hex.size(); ++i) {
    const size_t digit = kHexDigits.find(hex[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    id.bytes[i / 2] = static_cast<uint8_t>(id.bytes[i / 2] << 4 | digit);
  }
  return id;
}

std::string_view CauseName(Cause cause) {
  switch (cause) {
    case Cause::kNone: return "";
    case Cause::kResigned: return "RESIGNED";
    case Cause::kExpired: return "EXPIRED";
    case Cause::kDeposed: return "DEPOSED";
    case Cause::kAppointedAway: return "APPOINTED_AWAY";
    case Cause::kSuperseded: return "SUPERSEDED";
    case Cause::kSessionClosed: return "SESSION_CLOSED";
    case Cause::kDeleted: return "DELETED";
  }
  return "";
}

std::string_view EventTypeName(EventType type) {
  switch (type) {
    case EventType::kElected: return "ELECTED";
    case EventType::kProclaimed: return "PROCLAIMED";
    case EventType::kVacated: return "VACATED";
    case EventType::kHandoverAsked: return "HANDOVER_ASKED";
  }
  return "";
}

std::string_view AdminActionName(AdminAction action) {
  switch (action) {
    case AdminAction::kAppointed: return "APPOINTED";
    case AdminAction::kDeposed: return "DEPOSED";
    case AdminAction::kPaused: return "PAUSED";
    case AdminAction::kResumed: return "RESUMED";
    case AdminAction::kConfigured: return "CONFIGURED";
    case AdminAction::kDeleted: return "DELETED";
    case AdminAction::kSessionEnded: return "SESSION_ENDED";
    case AdminAction::kPurged: return "PURGED";
    case AdminAction::kTermsRaised: return "TERMS_RAISED";
  }
  return "";
}

bool IsFirst(const Event& event) {
  return event.type == EventType::kElected && event.term.value == event.revision.value;
}

bool HasEvents(const Election& election) {
  return election.leader || election.term.value != election.revision.value;
}

std::optional<Leadership> LeadershipOf(const Election& election) {
  if (!election.leader) return std::nullopt;
  return Leadership{election.name, election.term, *election.leader,
                    election.appointment ? election.appointment->candidate : ""};
}

int PartitionOf(const ElectionName& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name.bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return static_cast<int>((hash ^ hash >> 32) % kPartitionCount);
}

}  // namespace tenure
