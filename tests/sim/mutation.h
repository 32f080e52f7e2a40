// A planted error: what a broken law, engine, store or client would do, without touching any of
// them. Each is caught by the simulation, or the simulation is not worth its time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/sim/plan.h"

namespace tenure::sim {

struct World;

// The law's own end of a session.
void EndIfUnchanged(TransactionState& transaction, const Session& session);

struct Mutation {
  std::string name;      // for the command line
  std::string what;      // in a sentence
  std::string shows_as;  // part of what the simulation says of it
  // Makes a plan one in which it shows sooner.
  std::function<void(Plan&)> provoke = [](Plan&) {};

  // Between the engine and the store. Before a transaction is loaded; before the law sees it; after
  // the law has changed it and before it is saved.
  std::function<void(LockSet&, const World&)> before_load;
  std::function<void(TransactionState&, const World&)> before_law;
  std::function<void(const TransactionState& before, TransactionState&, const World&)> after_law;
  // Makes what was loaded look like what is remembered, before they are compared.
  std::function<void(const TransactionState& remembered, TransactionState& loaded)> unchecked;
  std::function<void(Attendance&)> after_attendance;
  std::function<void(DueWork&)> after_due;
  std::function<void(std::vector<FeedEntry>&)> after_feed;
  std::function<void(std::vector<PlaceKey>&)> after_places;

  // Errors of homes.
  std::function<Result<BeatReport>(Store&, const BeatOrder&)> beat;
  std::function<Result<bool>(Store&, HomeId, uint64_t beat)> declare_dead;
  std::function<void(std::vector<NumberedDeparture>&)> after_departures;
  // How a late end of a silent session or of an orphan is decided.
  std::function<void(TransactionState&, const Session&)> late_end = EndIfUnchanged;
  bool without_witness = false;  // of transactions that are not numbered
  bool never_sweeps = false;
  bool ends_orphans_at_once = false;
  bool drains_at_once = false;
  bool home_clock_stands = false;  // while the process is stopped

  bool answers_before_commit = false;  // and then some transactions are rolled back

  bool orders_ignore_term = false;  // of the operators' service
  // Errors of the law: a campaign after a term that its session leads in.
  bool ignores_after_term = false;  // keeps that term
  bool ends_any_term = false;       // also ends later ones

  // Errors of the machines of calls.
  bool withdraws_while_reading = false;  // a cancelled call whose place is being read
  bool drops_early_election = false;     // one that comes before the command's answer
  bool waits_while_draining = false;
  bool answers_before_renewal = false;  // of a KeepAlive stream
  bool resumes_late = false;            // an observer, by one revision

  // Errors of clients, and of the resource that they write to.
  bool lease_from_reply = false;
  bool believes_unconfirmed = false;
  bool forgets_to_stop = false;  // goes on after its lease
  bool resource_without_fence = false;
};

// Nothing is broken.
[[nodiscard]] const Mutation& NoMutation();
[[nodiscard]] const std::vector<Mutation>& Mutations();
// The plan of a seed in which to look for it.
[[nodiscard]] Plan PlanFor(uint64_t seed, const Mutation& mutation);

}  // namespace tenure::sim
