#include "client/cpp/machine/observation.h"

#include <utility>

namespace tenure {

// As if all earlier events had been seen.
Observation::Observation(Wish wish) : wish_(std::move(wish)) {
  for (const auto& [election, revision] : wish_.from_revisions) seen_[election] = revision - 1;
}

// An observer resumes every election that it has seen by name: the contract allows one selector for
// each election that a stream may watch, plus the prefixes.
v1::ObserveRequest Observation::Request() const {
  v1::ObserveRequest request;
  for (const auto& [election, revision] : seen_) {
    auto& selector = *request.add_selectors();
    selector.set_election(election);
    selector.set_from_revision(revision + 1);
  }
  for (const std::string& name : wish_.names) {
    if (!wish_.prefix && seen_.contains(name)) continue;
    auto& selector = *request.add_selectors();
    wish_.prefix ? selector.set_prefix(name) : selector.set_election(name);
    if (wish_.from_revision) {
      selector.set_from_revision(*wish_.from_revision);
    } else if (wish_.prefix && opened_) {
      selector.set_from_revision(1);  // those created since: from their beginning
    }
  }
  return request;
}

Observation::Verdict Observation::Note(const v1::ObserveResponse& response) {
  switch (response.message_case()) {
    case v1::ObserveResponse::kSnapshot: return Note(response.snapshot());
    case v1::ObserveResponse::kEvent: return Note(response.event());
    case v1::ObserveResponse::kProgress: opened_ = true; return Verdict::kNews;
    case v1::ObserveResponse::MESSAGE_NOT_SET: break;
  }
  return Verdict::kKnown;  // from a newer service
}

Observation::Verdict Observation::Note(const v1::Snapshot& snapshot) {
  const auto seen = seen_.find(snapshot.election());
  // Only a RESYNC may skip events, or go back, to a restored database.
  if (seen != seen_.end() && snapshot.reason() != v1::Snapshot::REASON_RESYNC) {
    return snapshot.revision() <= seen->second ? Verdict::kKnown : Verdict::kGap;
  }
  // A deleted election that was found by prefix need not be requested by name, if the prefix asks
  // for first events.
  const bool gone =
      wish_.prefix && snapshot.revision() == 0 && wish_.from_revision.value_or(1) == 1;
  if (!gone) {
    seen_[snapshot.election()] = snapshot.revision();
  } else if (seen != seen_.end()) {
    seen_.erase(seen);
  }
  return Verdict::kNews;
}

Observation::Verdict Observation::Note(const v1::Event& event) {
  const auto seen = seen_.find(event.election());
  const uint64_t next = seen == seen_.end() ? wish_.from_revision.value_or(1) : seen->second + 1;
  if (event.revision() < next) return Verdict::kKnown;
  // The service knows which event is the first: in a restored database it is not 1.
  if (event.revision() > next && next != 1) return Verdict::kGap;
  seen_[event.election()] = event.revision();
  return Verdict::kNews;
}

}  // namespace tenure
