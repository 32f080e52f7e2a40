// The plain types of Tenure's law: what an election, a candidacy, a session and an event are.
//
// Values only: no I/O, no clock, no locks. Every type may be copied, compared and moved freely, and
// none is safe to change from two threads at once.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tenure {

// A number of a type of its own, so that it cannot be mixed up with another.
template <typename Tag>
struct StrongNumber {
  uint64_t value = 0;

  auto operator<=>(const StrongNumber&) const = default;
  [[nodiscard]] StrongNumber Next() const { return {value + 1}; }
};

using Term = StrongNumber<struct TermTag>;          // the fencing token; 0 before the first grant
using Revision = StrongNumber<struct RevisionTag>;  // 0 before the first event
using Ticket = StrongNumber<struct TicketTag>;      // order of arrival in one election's queue
using HomeId = StrongNumber<struct HomeIdTag>;      // one run of a replica; random; 0 is none

using Duration = std::chrono::microseconds;

// A moment on the database's clock, in microseconds since the epoch (UTC). Used for delays,
// cool-downs, reservations and timestamps; never for ending sessions.
struct DbTime {
  Duration since_epoch{0};

  auto operator<=>(const DbTime&) const = default;
  friend DbTime operator+(DbTime time, Duration duration) { return {time.since_epoch + duration}; }
  friend Duration operator-(DbTime a, DbTime b) { return a.since_epoch - b.since_epoch; }
};

// An election's name: bytes, compared exactly. `core/validation.h` says which are allowed.
struct ElectionName {
  std::string bytes;

  auto operator<=>(const ElectionName&) const = default;
};

// A secret capability of 128 bits: without a policy, anyone who knows it can act for the session.
// Only its first half, the handle, may be logged or listed.
struct SessionId {
  std::array<uint8_t, 16> bytes{};

  auto operator<=>(const SessionId&) const = default;
  [[nodiscard]] std::string Hex() const;
  [[nodiscard]] std::string Handle() const;
  // Nothing unless `hex` is 32 lower-case hexadecimal digits.
  [[nodiscard]] static std::optional<SessionId> FromHex(std::string_view hex);
};

// One Campaign call. A call that is abandoned gives up its place in the queue, unless a later call
// wants the place, too.
using CallId = StrongNumber<struct CallIdTag>;  // random; 0 is none

enum class Cause : uint8_t {
  kNone = 0,
  kResigned = 1,
  kExpired = 2,
  kDeposed = 3,
  kAppointedAway = 4,
  kSuperseded = 5,
  kSessionClosed = 6,
  kDeleted = 7,
};
[[nodiscard]] std::string_view CauseName(Cause cause);

enum class EventType : uint8_t {
  kElected = 1,
  kProclaimed = 2,
  kVacated = 3,
  kHandoverAsked = 4,  // an operator asks the leader to make way for a candidate
};
[[nodiscard]] std::string_view EventTypeName(EventType type);

struct Principal;

// A process's lease on life. It is alive until its row says otherwise: `ended` is never unset.
struct Session {
  SessionId id;
  std::string candidate;
  Duration lease_ttl{0};
  Cause ended = Cause::kNone;
  DbTime ended_at = {};  // zero while it lives
  DbTime opened_at = {};
  // Adaptive leases: what the candidate asked for, and when the row got its lease. The home may
  // have shortened it since (core/law/adaptive_lease.h).
  Duration lease_ttl_asked{0};
  DbTime lease_ttl_since = {};
  std::string identity = {};  // of the opener, by the server's policy; empty without one
  // The replica that its renewals reach, and how often that has changed. Its home ends it, or, once
  // its home is dead, another replica. A session opened by release 0.1 has none until it is
  // adopted.
  HomeId home = {};
  uint64_t moves = 0;

  bool operator==(const Session&) const = default;
  [[nodiscard]] bool HasHome() const { return home != HomeId{}; }
  [[nodiscard]] bool Alive() const { return ended == Cause::kNone; }
  // By everybody, unless the policy knows the identities of both the opener and the caller.
  [[nodiscard]] bool MayBeUsedBy(const Principal& principal) const;
};

// How much an identity may take on, in the whole service. Nothing: no limit.
struct Quota {
  std::optional<uint64_t> sessions = {};     // alive at a time
  std::optional<uint64_t> candidacies = {};  // seats and places in queues
  std::optional<uint64_t> elections = {};    // that it has created, deleted ones too

  bool operator==(const Quota&) const = default;
  // Whether each campaign needs to know what the identity has taken on. Elections matter only to
  // those that create one.
  [[nodiscard]] bool Limits() const { return sessions || candidacies; }
};

// The caller's identity and quota in the server's policy; empty without a policy.
struct Principal {
  std::string identity = {};
  Quota quota = {};

  bool operator==(const Principal&) const = default;
};

inline bool Session::MayBeUsedBy(const Principal& principal) const {
  return identity.empty() || principal.identity.empty() || identity == principal.identity;
}

// How much an identity has taken on.
struct Usage {
  uint64_t sessions = 0;
  uint64_t candidacies = 0;
  uint64_t elections = 0;

  bool operator==(const Usage&) const = default;
};

// A place in one election's queue. Elected candidates leave the queue.
struct Candidacy {
  SessionId session;
  std::string candidate;
  Duration lease_ttl{0};
  Ticket ticket;
  int32_t priority = 0;
  std::string value;
  CallId call_id;
  bool asked_again = false;  // by a Campaign call with another call id than the first

  bool operator==(const Candidacy&) const = default;
  // Queue order: higher priorities first, then in order of arrival.
  [[nodiscard]] bool Before(const Candidacy& other) const {
    return priority != other.priority ? priority > other.priority : ticket < other.ticket;
  }
};

// The holder of the seat in the election's current term.
struct Leader {
  SessionId session;
  std::string candidate;
  Duration lease_ttl{0};
  std::string value;
  DbTime elected_at;
  // The Campaign call that was granted the seat, until a later Campaign or Proclaim of its session
  // shows that the grant has arrived.
  CallId call_id;

  bool operator==(const Leader&) const = default;
};

// What operators set for one election.
struct Settings {
  Duration lock_delay{0};  // how long the seat stays empty after an unclean end
  // Minimum length of a term: if the leader resigns sooner, the seat stays empty until it is up.
  Duration min_hold{0};
  Duration lease_ttl_default{0};  // 0: the server's
  Duration lease_ttl_max{0};      // 0: the server's
  uint64_t queue_max = 0;         // 0: the server's

  bool operator==(const Settings&) const = default;
};

// The candidate that an operator wants to lead next.
struct Appointment {
  std::string candidate;
  // Until when the seat is kept even if the candidate does not stand. Nothing: it has to stand.
  std::optional<DbTime> until = {};

  bool operator==(const Appointment&) const = default;
};

// Why, and since when, a seat that was held before is empty.
struct Vacancy {
  Cause cause = Cause::kNone;  // of the last term's end
  DbTime since;                // the end of the term, or of its leader's session

  bool operator==(const Vacancy&) const = default;
};

// One election's row.
struct Election {
  ElectionName name;
  Term term;  // the highest ever granted
  Revision revision;
  Ticket next_ticket;
  uint64_t waiting = 0;  // how many candidacies the queue holds
  std::optional<Leader> leader = {};

  Settings settings = {};
  bool paused = false;       // no grant is made
  bool deleted = false;      // and not created again since
  DbTime vacant_until = {};  // no grant is made before
  std::optional<Appointment> appointment = {};
  DbTime cooling_until = {};           // the end of the last cool-down; 0 if there is none
  std::optional<DbTime> wake_at = {};  // when a grant may become possible without another command
  Revision history_from = {};          // events before this one were deleted
  // Nothing while somebody leads, or if nobody has since the election was created.
  std::optional<Vacancy> vacancy = {};
  std::string creator = {};  // the identity that created it; empty without a policy

  bool operator==(const Election&) const = default;
};

// One committed change. `term`, `session`, `candidate`, `value` and `elected_at` are those of the
// leadership that began, changed or ended.
struct Event {
  ElectionName election;
  Revision revision;
  EventType type = EventType::kElected;
  Cause cause = Cause::kNone;
  Term term;
  Leader leader;
  DbTime at;
  std::string successor = {};  // of kHandoverAsked

  bool operator==(const Event&) const = default;
};

// Whether no event of the election came before this one, unless it is hidden (`history_from`).
// Terms and revisions begin with the same number. A grant raises both; every other event raises
// only the revision, and at least one comes before the next grant.
[[nodiscard]] bool IsFirst(const Event& event);
// Whether an election has had an event, since it began or its numbers were raised.
[[nodiscard]] bool HasEvents(const Election& election);

// A leadership as callers see it.
struct Leadership {
  ElectionName election;
  Term term;
  Leader leader;
  std::string successor = {};  // the candidate it is asked to make way for; empty: none

  bool operator==(const Leadership&) const = default;
};
// Nothing while the seat is vacant.
[[nodiscard]] std::optional<Leadership> LeadershipOf(const Election& election);

// What operators do.
enum class AdminAction : uint8_t {
  kAppointed = 1,
  kDeposed = 2,
  kPaused = 3,
  kResumed = 4,
  kConfigured = 5,
  kDeleted = 6,
  kSessionEnded = 7,
  kPurged = 8,
  kTermsRaised = 9,
};
[[nodiscard]] std::string_view AdminActionName(AdminAction action);

// The author of an administrative change, and the reason.
struct Author {
  std::string identity;
  std::string reason;

  bool operator==(const Author&) const = default;
};

// One committed administrative change.
struct AdminChange {
  ElectionName election;  // empty for kSessionEnded and kTermsRaised
  AdminAction action = AdminAction::kAppointed;
  Term term;  // the election's, when it was asked for
  DbTime at;
  std::string detail;  // what changed, for people
  Author author;

  bool operator==(const AdminChange&) const = default;
};

// Every election belongs to one partition, the same on every replica and at all times: partitions
// order the changes that replicas publish. The stores' schema holds one row for each; its
// tables call a partition a lane, and an offset a position.
inline constexpr int kPartitionCount = 4;
// FNV-1a of the name.
[[nodiscard]] int PartitionOf(const ElectionName& name);

}  // namespace tenure

template <>
struct std::hash<tenure::ElectionName> {
  size_t operator()(const tenure::ElectionName& name) const noexcept {
    return std::hash<std::string>{}(name.bytes);
  }
};

template <>
struct std::hash<tenure::SessionId> {
  size_t operator()(const tenure::SessionId& id) const noexcept {
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  }
};
