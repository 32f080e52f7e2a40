#include "server/engine/reads.h"

#include <algorithm>
#include <set>

namespace tenure::engine {
namespace {

using namespace std::chrono_literals;

constexpr size_t kReadsPerBatch = 500;
constexpr size_t kReadsWaitingMax = 50'000;

// Queueing delay above which new questions are refused.
constexpr auto kReadDelayMax = 1s;

// Attempts to end the term of a leader whose session has ended, before a read answers.
constexpr int kReadTriesMax = 5;

using Views = std::map<ElectionName, ElectionView>;

std::function<void()> RunReading(std::vector<std::function<void()>> batch) {
  for (const auto& reading : batch) reading();
  return nullptr;
}

constexpr auto kRememberFor = 1s;
constexpr size_t kRememberedMax = 10'000;

}  // namespace

Reads::Reads(ReplicaState& replica, const Transactions& transactions, Reconcile settle)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      metrics_(replica.metrics),
      lineage_(replica.lineage),
      home_(replica.home),
      cache_(replica.cache),
      transactions_(transactions),
      settle_(std::move(settle)),
      elections_(replica.scheduler, Work::kReads, kReadsPerBatch, kReadsWaitingMax,
                 [this](auto batch) { return RunElections(std::move(batch)); }),
      places_(replica.scheduler, Work::kReads, kReadsPerBatch, kReadsWaitingMax,
              [this](auto batch) { return RunPlaces(std::move(batch)); }),
      seats_(replica.scheduler, Work::kReads, 1, kReadsWaitingMax, RunReading),
      others_(replica.scheduler, Work::kReads, 1, kReadsWaitingMax, RunReading) {}

bool Reads::Late() const { return elections_.Delay() > kReadDelayMax; }

std::vector<QueueView> Reads::Queues() const {
  return {elections_.View("reads"), places_.View("places"), seats_.View("seats"),
          others_.View("other_reads")};
}

void Reads::ReadElection(const ElectionName& name, bool stale_ok,
                         AnswerTo<std::optional<Election>> done) {
  if (stale_ok) {
    MutexLock lock(remembered_mutex_);
    const auto found = remembered_.find(name);
    const bool fresh =
        found != remembered_.end() && scheduler_.Now() - found->second.read_at < kRememberFor;
    if (fresh) {
      const std::optional<Election> election = found->second.election;
      lock.Unlock();
      return scheduler_.Post(Work::kReads, [election, done = std::move(done)] { done(election); });
    }
  }
  PendingElection pending{name, std::move(done)};
  if (Late() || !elections_.Add(pending))
    Refuse(scheduler_, std::move(pending.done), transactions_.WhyFull());
}

void Reads::ReadPlace(const PlaceKey& key, bool with_position, AnswerTo<Place> done) {
  PendingPlace pending{key, with_position, std::move(done)};
  if (!places_.Add(pending)) Refuse(scheduler_, std::move(pending.done), transactions_.WhyFull());
}

void Reads::ReadSeats(SeatPage page, AnswerTo<std::vector<Leadership>> done) {
  Enqueue<std::vector<Leadership>>(
      seats_, [page = std::move(page)](OperatorStore& store) { return store.ReadSeats(page); },
      std::move(done), nullptr);
}

void Reads::ReadEvents(const ElectionName& name, Revision from, size_t limit,
                       AnswerTo<std::vector<Event>> done, Wanted wanted) {
  Read<std::vector<Event>>(
      [name, from, limit](OperatorStore& store) { return store.ReadEvents(name, from, limit); },
      std::move(done), std::move(wanted));
}

void Reads::ReadNames(std::string prefix, std::string after, size_t limit,
                      AnswerTo<std::vector<ElectionName>> done, Wanted wanted) {
  using Names = std::vector<ElectionName>;
  const auto read = [prefix = std::move(prefix), after = std::move(after),
                     limit](OperatorStore& store) -> Result<Names> {
    const auto views = store.ListElections(prefix, after, limit);
    if (!views) return tl::unexpected(views.error());
    Names names;
    for (const ElectionView& view : *views) names.push_back(view.election.name);
    return names;
  };
  Read<Names>(read, std::move(done), std::move(wanted));
}

Reads::After Reads::RunElections(std::vector<PendingElection> batch) {
  std::set<ElectionName> unique;
  for (const PendingElection& pending : batch) unique.insert(pending.name);
  const SteadyTime read_at = scheduler_.Now();  // what is read is no older than this
  auto views = ReadViews(std::move(unique));
  ObserveSeconds(metrics_.database_seconds[Operation::kRead], scheduler_.Now() - read_at);
  if (!views) return FailAll(std::move(batch), views.error());
  return [this, batch = std::move(batch), views = *std::move(views), read_at]() mutable {
    for (PendingElection& pending : batch) AnswerElection(std::move(pending), views, read_at);
  };
}

// Each message that reads rows is followed by one that shows whether the database is still the one
// that this replica knows: if so, the rows came from it.
Result<Views> Reads::ReadViews(std::set<ElectionName> names) {
  Views views;
  std::set<ElectionName> known;
  for (const ElectionName& name : names) {
    if (cache_.Read(name)) known.insert(name);
  }
  std::erase_if(names, [&](const ElectionName& name) { return known.contains(name); });
  while (true) {
    if (!names.empty()) {
      auto rows = ReadRows(names);
      if (!rows) return rows;
      views.merge(*rows);
      names.clear();
    }
    const auto attendance = ReadAttendance();
    if (!attendance) return tl::unexpected(attendance.error());
    const bool all_are_there = attendance->unsettled.size() < Attendance::kUnsettledMax;
    for (const ElectionName& name : std::exchange(known, {})) {
      auto election = cache_.Read(name, attendance->partitions.offsets);
      const bool lives =
          election &&
          (!election->leader ||
           (all_are_there && !attendance->unsettled.contains(election->leader->session)));
      if (lives) {
        views[name] = {*std::move(election), true, {}};
      } else {
        names.insert(name);
      }
    }
    if (names.empty()) return views;
  }
}

Result<Attendance> Reads::ReadAttendance() {
  const auto point = lineage_.point();
  if (!point) {
    return Fail(Reason::kStoreUnavailable, "the database lost commits, and is being repaired");
  }
  // Until a new home has begun in a history that was repaired, the old one's row proves nothing.
  const bool proves = home_.BelongsTo(lineage_.repairs());
  const HomeWitness own = home_.witness().value_or(HomeWitness());
  auto attendance = store_.ReadAttendance(own.home);
  if (!attendance) return attendance;
  const bool kept = attendance->own && attendance->own->beat >= own.acknowledged;
  if ((proves && !kept) || !Lineage::Fits(*point, attendance->partitions)) {
    return Fail(Reason::kStoreUnavailable,
                "the database's history is not the one that this replica knows");
  }
  return attendance;
}

Result<Views> Reads::ReadRows(const std::set<ElectionName>& names) {
  const StateCache::Moment begun = cache_.Now();
  auto views = store_.ReadElections({names.begin(), names.end()});
  if (views) cache_.Remember(*views, begun);
  return views;
}

void Reads::AnswerElection(PendingElection pending,
                           const std::map<ElectionName, ElectionView>& views, SteadyTime read_at) {
  const auto view = views.find(pending.name);
  if (view == views.end() || view->second.LeaderAlive()) {
    const auto election = view == views.end() ? std::nullopt : std::optional(view->second.election);
    if (election) FillIfVacant(view->second);
    Remember(pending.name, election, read_at);
    return pending.done(election);
  }
  if (pending.tries == kReadTriesMax) {
    return pending.done(
        Fail(Reason::kStoreUnavailable, "the end of an expired term could not be committed yet"));
  }
  // The end of the term is committed first, and then it is read again.
  ++pending.tries;
  const ElectionName name = pending.name;
  settle_(name, [this, pending = std::move(pending)](Result<Answer> settled) mutable {
    if (!settled) return pending.done(tl::unexpected(settled.error()));
    if (!elections_.Add(pending)) pending.done(tl::unexpected(transactions_.WhyFull()));
  });
}

Reads::After Reads::RunPlaces(std::vector<PendingPlace> batch) {
  std::vector<PlaceKey> all;
  std::vector<PlaceKey> positioned;
  for (const PendingPlace& pending : batch) {
    (pending.with_position ? positioned : all).push_back(pending.key);
  }
  // The queue is read before the seat: a candidate that left the queue for the seat is found there.
  const auto waiting = store_.FilterWaiting(all);
  const auto positions = store_.ReadPositions(positioned);
  if (!waiting) return FailAll(std::move(batch), waiting.error());
  if (!positions) return FailAll(std::move(batch), positions.error());
  const std::set<PlaceKey> in_queue(waiting->begin(), waiting->end());
  std::set<ElectionName> names;
  for (const PendingPlace& pending : batch) {
    if (pending.with_position || !in_queue.contains(pending.key)) {
      names.insert(pending.key.election);
    }
  }
  const auto views = store_.ReadElections({names.begin(), names.end()});
  if (!views) return FailAll(std::move(batch), views.error());
  for (PendingPlace& pending : batch) {
    Place place;
    const auto position = positions->find(pending.key);
    place.position = position == positions->end() ? 0 : position->second;
    const auto view = views->find(pending.key.election);
    if (view != views->end()) place.election = view->second;
    place.waiting = pending.with_position ? place.election && place.position > 0
                                          : in_queue.contains(pending.key);
    pending.done(std::move(place));
  }
  for (const auto& [name, view] : *views) FillIfVacant(view);
  return nullptr;
}

void Reads::FillIfVacant(const ElectionView& view) {
  const Election& election = view.election;
  const bool left_vacant =
      !election.leader && election.waiting > 0 && !election.paused && !election.wake_at;
  if (left_vacant || !view.LeaderAlive()) {
    settle_(view.election.name, [](Result<Answer>) {});
  }
}

void Reads::Remember(const ElectionName& name, const std::optional<Election>& election,
                     SteadyTime read_at) {
  const MutexLock lock(remembered_mutex_);
  if (remembered_.size() >= kRememberedMax) remembered_.clear();
  Remembered& remembered = remembered_[name];
  if (remembered.read_at <= read_at) remembered = {election, read_at};
}

}  // namespace tenure::engine
