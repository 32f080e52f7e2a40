// Elections that come and go, and what an identity may hold of them.
#include <utility>

#include "core/law/steps.h"

namespace tenure {

namespace law {

uint64_t Creates(const ElectionState& state, const Principal& principal) {
  // A deleted election still counts for its creator, who takes on nothing by creating it again.
  return !state.exists && state.election.creator != principal.identity ? 1 : 0;
}

void Create(ElectionState& state, const Principal& principal) {
  if (state.exists) return;
  state.exists = true;
  state.election.deleted = false;
  state.election.vacancy.reset();
  state.election.creator = principal.identity;
}

Result<void> Charge(TransactionState& transaction, const Principal& principal, const Usage& more) {
  if (principal.identity.empty()) return {};
  Usage& has = transaction.usage[principal.identity];
  const auto check = [&](const char* what, const std::optional<uint64_t>& max, uint64_t held,
                         uint64_t wanted) -> Result<void> {
    if (!max || wanted == 0 || held + wanted <= *max) return {};
    return Fail(Reason::kLimitReached,
                "identity '" + principal.identity + "' has " + std::to_string(held) + " " + what +
                    ", and its limit is " + std::to_string(*max),
                {{"limit", std::to_string(*max)}});
  };
  const Quota& quota = principal.quota;
  const auto sessions = check("sessions", quota.sessions, has.sessions, more.sessions);
  if (!sessions) return sessions;
  const auto candidacies =
      check("candidacies", quota.candidacies, has.candidacies, more.candidacies);
  if (!candidacies) return candidacies;
  const auto elections = check("elections", quota.elections, has.elections, more.elections);
  if (!elections) return elections;
  has.sessions += more.sessions;
  has.candidacies += more.candidacies;
  has.elections += more.elections;
  return {};
}

tl::unexpected<Error> UnknownElection(const Election& election) {
  return tl::unexpected(UnknownElectionError(election));
}

tl::unexpected<Error> StaleTerm(const Election& election, std::string message) {
  return Fail(Reason::kStaleTerm, std::move(message),
              {{"current_term", std::to_string(election.term.value)}});
}

}  // namespace law

Error UnknownElectionError(const Election& election) {
  const std::string name = "'" + election.name.bytes + "'";
  return {Reason::kElectionNotFound,
          election.deleted
              ? "election " + name + " was deleted, and nobody has campaigned in it since"
              : "nobody has ever campaigned in election " + name};
}

}  // namespace tenure
