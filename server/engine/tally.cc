#include "server/engine/tally.h"

#include <algorithm>
#include <chrono>

namespace tenure {
namespace {

// A term that is lost sooner after its grant has flapped.
constexpr Duration kFlapBelow = std::chrono::seconds(30);

double InSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

void TallyGrant(Metrics& metrics, const Succession& succession, DbTime now) {
  const auto& vacancy = succession.vacancy;
  metrics.terms_granted[vacancy ? vacancy->cause : Cause::kNone].Increment();
  if (!vacancy) return;
  // The clock may have been set back.
  const Duration empty_for = std::max(Duration(0), now - vacancy->since);
  metrics.leaderless_seconds.Increment(InSeconds(empty_for));
  if (vacancy->cause == Cause::kExpired) {
    metrics.failovers.Increment();
    ObserveSeconds(metrics.failover_seconds, empty_for);
  }
  const bool made_way = vacancy->cause == Cause::kResigned ||
                        vacancy->cause == Cause::kSessionClosed ||
                        vacancy->cause == Cause::kAppointedAway;
  if (succession.appointed && made_way) metrics.handovers.Increment();
  if (succession.returned) metrics.seats_returned.Increment();
}

void TallyEndOfTerm(Metrics& metrics, const Event& event) {
  metrics.terms_ended[event.cause].Increment();
  const bool lost = event.cause == Cause::kExpired || event.cause == Cause::kSuperseded;
  if (lost && event.at - event.leader.elected_at < kFlapBelow) metrics.flaps.Increment();
}

}  // namespace

void TallyEndedSessions(Metrics& metrics, const Docket& docket) {
  for (const SessionId& id : docket.ended) {
    metrics.sessions_ended[docket.sessions.at(id).ended].Increment();
  }
}

void Tally(Metrics& metrics, const Docket& docket) {
  for (const Succession& succession : docket.successions) {
    TallyGrant(metrics, succession, docket.now);
  }
  for (const Event& event : docket.events) {
    if (event.type == EventType::kVacated) TallyEndOfTerm(metrics, event);
  }
  TallyEndedSessions(metrics, docket);
  metrics.premature_expirations.Increment(static_cast<double>(docket.premature_expirations));
  metrics.admin_changes.Increment(static_cast<double>(docket.admin_changes.size()));
}

double LeaseShareLeft(const Session& session, DbTime now) {
  const double share = InSeconds(session.expires_at - now) / InSeconds(session.lease_ttl);
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace tenure
