#include "server/engine/home/home_keeper.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/engine/timed_work.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime::duration kBeatInterval = 1s;
constexpr SteadyTime::duration kIntervalAfterFailure = 250ms;
constexpr size_t kAdoptedAtOnceMax = 500;
constexpr size_t kDeparturesAtOnceMax = 1'000;
constexpr SteadyTime::duration kSweepInterval = 60s;
constexpr SteadyTime::duration kSweepPause = 5s;  // if sessions are in doubt
constexpr int kIdTriesMax = 10;

}  // namespace

HomeKeeper::HomeKeeper(ReplicaState& replica, ChangeFeed& feed, Transactions& transactions,
                       Publisher& publisher, Beaten beaten, Peer self, uint64_t seed)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      state_(replica.home),
      feed_(feed),
      lineage_(replica.lineage),
      transactions_(transactions),
      publisher_(publisher),
      beaten_(std::move(beaten)),
      self_(std::move(self)),
      busy_(replica.scheduler, replica.metrics, Work::kRenewals,
            [this](Pending pending) { Submit(std::move(pending)); }),
      random_(seed) {}

Result<void> HomeKeeper::Join() {
  if (state_.begun()) return {};
  return BeginIncarnation();
}

void HomeKeeper::Start() {
  next_sweep_ = scheduler_.Now() + kSweepInterval;
  Write();
}

std::optional<Error> HomeKeeper::fault() const {
  const MutexLock lock(mutex_);
  return fault_;
}

void HomeKeeper::SetFault(std::optional<Error> fault) {
  const MutexLock lock(mutex_);
  fault_ = std::move(fault);
}

Result<void> HomeKeeper::BeginIncarnation() {
  const uint64_t repairs = lineage_.repairs();
  for (int tries = 0; tries < kIdTriesMax; ++tries) {
    const HomeId id{random_() >> 1 | 1};  // SQLite's numbers have a sign
    const auto added = store_.BeginHome({.id = id, .good_for = kHomeGoodFor, .peer = self_});
    if (!added) return tl::unexpected(added.error());
    if (!*added) continue;
    state_.Begin(id, repairs);
    departures_ = 0;
    metrics_.home_incarnations.Increment();
    LogInfo("home of sessions", {{"home", id.value}});
    return {};
  }
  return Fail(Reason::kStoreUnavailable, "no id is free in the table of homes");
}

void HomeKeeper::Drain() {
  draining_ = true;
  BeatSoon();
}

void HomeKeeper::BeatSoon() {
  const MutexLock lock(mutex_);
  beat_soon_ = true;
  WakeLocked();
}

// --- The writer ---

void HomeKeeper::Wake() {
  const MutexLock lock(mutex_);
  WakeLocked();
}

void HomeKeeper::WakeLocked() {
  if (std::exchange(writing_, true)) return;
  if (planned_beat_) scheduler_.Cancel(*std::exchange(planned_beat_, std::nullopt));
  scheduler_.Post(Work::kRenewals, [this] { Write(); });
}

void HomeKeeper::Write() {
  while (true) {
    std::vector<Pending> batch;
    {
      const MutexLock lock(mutex_);
      const SteadyTime now = scheduler_.Now();
      if (retired_) return;
      // Adoptions go before the next beat, unless it is late.
      if (!to_adopt_.empty() && now < next_beat_ + kBeatInterval && state_.Good()) {
        const size_t count = std::min(to_adopt_.size(), kAdoptedAtOnceMax);
        const auto end = to_adopt_.begin() + static_cast<ptrdiff_t>(count);
        std::move(to_adopt_.begin(), end, std::back_inserter(batch));
        to_adopt_.erase(to_adopt_.begin(), end);
      } else if (now < next_beat_ && !std::exchange(beat_soon_, false)) {
        writing_ = false;
        planned_beat_ = scheduler_.PostAt(Work::kRenewals, next_beat_, [this] { Wake(); });
        return;
      }
    }
    if (!batch.empty()) {
      AdoptBatch(std::move(batch));
      continue;
    }
    const SteadyTime next = state_.begun() ? Beat() : BeginAgain();
    const MutexLock lock(mutex_);
    next_beat_ = next;
  }
}

SteadyTime HomeKeeper::BeginAgain() {
  // Not before the terms have been raised, if commits were lost.
  if (!lineage_.point() || !BeginIncarnation()) {
    ReleaseWaiting(false);
    return scheduler_.Now() + kIntervalAfterFailure;
  }
  return scheduler_.Now();
}

SteadyTime HomeKeeper::Beat() {
  // While departures cannot be read, others should not see a home that beats and does not serve.
  if (const auto next = ReadDepartures()) return *next;
  const SteadyTime begun = scheduler_.Now();
  const auto point = feed_.point();
  const auto write = state_.BeginWrite();
  if (!write) {
    ReleaseWaiting(false);
    return begun + kIntervalAfterFailure;
  }
  if (!state_.BelongsTo(lineage_.repairs())) return EndIncarnation("the database has lost commits");
  if (state_.EndsAreLate()) return InsteadOfBeat(*write);
  const auto report =
      store_.Beat({write->home, write->number, write->acknowledged, TimedWork::kDueMax});
  const SteadyTime answered = scheduler_.Now();
  ObserveSeconds(metrics_.database_seconds[Operation::kBeat], answered - begun);
  const bool fits =
      feed_.Confirm(point, report.map([](const BeatReport& it) { return it.due.partitions; }));
  SetFault(report ? std::nullopt : std::optional(report.error()));
  if (!report || !fits) {
    // Another database says nothing about this replica's row.
    report && report->beaten ? state_.OnNumbered(*write) : state_.OnUnknown(*write);
    return AfterFailure();
  }
  const OwnRow::Verdict verdict = OwnRow::Judge(*write, report->beaten, report->own);
  if (verdict != OwnRow::Verdict::kMade) {
    metrics_.beats_refused.Increment();
    return AfterRefusal(*write, verdict);
  }
  state_.OnNumbered(*write);
  departures_ = report->own->departures;
  if (const auto next = ReadDepartures()) return *next;
  OnGoodBeat(*write, *report, begun, answered);
  return NextBeat(begun);
}

SteadyTime HomeKeeper::AfterFailure() {
  metrics_.beats_failed.Increment();
  ReleaseWaiting(false);
  return scheduler_.Now() + kIntervalAfterFailure;
}

std::optional<SteadyTime> HomeKeeper::ReadDepartures() {
  while (true) {
    const uint64_t known = state_.known_departures();
    if (known >= departures_) return std::nullopt;
    const auto page = store_.ReadDepartures(state_.Now().incarnation, known, kDeparturesAtOnceMax);
    if (!page) {
      SetFault(page.error());
      return AfterFailure();
    }
    if (page->empty() || page->front().number != known + 1) {
      metrics_.beats_refused.Increment();
      return EndIncarnation("the list of sessions that have left it has a gap");
    }
    state_.Departed(*page);
  }
}

void HomeKeeper::OnGoodBeat(const OwnRow::Write& write, const BeatReport& report, SteadyTime begun,
                            SteadyTime answered) {
  metrics_.beats_good.Increment();
  if (const auto left = state_.OnBeat(write)) metrics_.home_beat_margin_ratio.Observe(*left);
  // Until this beat, the adoption in doubt could still be committed.
  if (std::exchange(adoption_in_doubt_, false)) adopted_at_ = scheduler_.HomeNow();
  beaten_(report, begun, answered);
  state_.Saw(report.living, report.gone);
  ReleaseWaiting(true);
  said_withheld_ = false;
  if (draining_) RetireIfSafe();
  Watch();
  PlanEnds();
  if (begun >= next_sweep_ || (begun >= swept_at_ + kSweepPause && state_.TakeDoubt())) {
    swept_at_ = begun;
    next_sweep_ = begun + kSweepInterval;
    scheduler_.Post(Work::kBackground, [this] { Sweep({}); });
  }
}

// A home that has stopped is declared dead as soon as possible. From then on, beats are at least an
// interval apart, so that a lease of whole seconds has passed at one of them.
SteadyTime HomeKeeper::NextBeat(SteadyTime begun) const {
  const SteadyTime now = scheduler_.Now();
  const SteadyTime next = (state_.AnyGone() ? now : begun) + kBeatInterval;
  const auto overdue = state_.NextOverdue();
  return overdue ? std::min(next, std::max(*overdue, now + kIntervalAfterFailure)) : next;
}

// Without beats, others declare this home dead, and then its ends of sessions fail, too: only the
// row can show that.
SteadyTime HomeKeeper::InsteadOfBeat(const OwnRow::Write& write) {
  metrics_.beats_withheld.Increment();
  if (!std::exchange(said_withheld_, true)) {
    LogWarning("this replica does not beat: it cannot end sessions that are silent",
               {{"what_next", "another replica declares it dead, and ends them"}});
  }
  ReleaseWaiting(false);
  const auto report = store_.Beat({.home = write.home});  // number 0: changes nothing
  SetFault(report ? std::nullopt : std::optional(report.error()));
  if (report) return AfterRefusal(write, OwnRow::Judge(write, false, report->own));
  state_.OnRefused(write);
  return scheduler_.Now() + kIntervalAfterFailure;
}

// The former homes of adopted sessions may answer until their beats expire. Until then this replica
// counts no silence; if it died earlier, others would end the sessions too soon.
void HomeKeeper::RetireIfSafe() {
  if (scheduler_.HomeNow() < adopted_at_ + kHomeGoodFor) return;
  const auto witness = state_.witness();
  const auto dead = store_.DeclareDead(witness->home, witness->acknowledged);
  if (!dead || !*dead) return;
  LogInfo("this replica is the home of no sessions any more");
  state_.End();
  retired_ = true;
}

SteadyTime HomeKeeper::AfterRefusal(const OwnRow::Write& write, OwnRow::Verdict verdict) {
  switch (verdict) {
    case OwnRow::Verdict::kDead: return EndIncarnation("another replica has declared it dead");
    case OwnRow::Verdict::kOver: return EndIncarnation("a copy of this replica uses its row");
    case OwnRow::Verdict::kWentBack:
      lineage_.HomeWentBack();
      feed_.PollSoon();  // joins the history again, so that all replicas stop
      return EndIncarnation("the database has lost what this replica wrote");
    case OwnRow::Verdict::kMade:
    case OwnRow::Verdict::kAgain: break;
  }
  state_.OnRefused(write);
  ReleaseWaiting(false);
  return scheduler_.Now() + kIntervalAfterFailure;
}

SteadyTime HomeKeeper::EndIncarnation(const char* why) {
  LogWarning("this replica is no longer the home of its sessions; it begins again", {{"why", why}});
  state_.End();
  ReleaseWaiting(false);
  return scheduler_.Now();
}

}  // namespace tenure::engine
