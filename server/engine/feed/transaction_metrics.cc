#include "server/engine/feed/transaction_metrics.h"

#include <algorithm>
#include <chrono>

namespace tenure::engine {
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
}

void TallyEndOfTerm(Metrics& metrics, const Event& event) {
  metrics.terms_ended[event.cause].Increment();
  const bool lost = event.cause == Cause::kExpired || event.cause == Cause::kSuperseded;
  if (lost && event.at - event.leader.elected_at < kFlapBelow) metrics.flaps.Increment();
}

}  // namespace

void CountEndedSessions(Metrics& metrics, const TransactionState& transaction) {
  for (const SessionId& id : transaction.ended) {
    metrics.sessions_ended[transaction.sessions.at(id).ended].Increment();
  }
}

void CountTransaction(Metrics& metrics, const TransactionState& transaction) {
  for (const Succession& succession : transaction.successions) {
    TallyGrant(metrics, succession, transaction.now);
  }
  for (const Event& event : transaction.events) {
    if (event.type == EventType::kVacated) TallyEndOfTerm(metrics, event);
  }
  CountEndedSessions(metrics, transaction);
  metrics.premature_expirations.Increment(static_cast<double>(transaction.premature_expirations));
  metrics.admin_changes.Increment(static_cast<double>(transaction.admin_changes.size()));
}

}  // namespace tenure::engine
