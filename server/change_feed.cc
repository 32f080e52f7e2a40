#include "server/change_feed.h"

#include <algorithm>
#include <utility>

#include "server/log.h"

namespace tenure {
namespace {

// How many positions one read may cover: bounds its memory.
constexpr uint64_t kPositionsPerRead = 64;
constexpr auto kIntervalAfterFailure = std::chrono::milliseconds(250);

}  // namespace

ChangeFeed::ChangeFeed(Store& store, Scheduler& scheduler, WatchHub& hub, Metrics& metrics,
                       const DatabaseClock& database_clock, std::chrono::milliseconds interval)
    : store_(store),
      scheduler_(scheduler),
      hub_(hub),
      metrics_(metrics),
      database_clock_(database_clock),
      interval_(interval),
      last_answer_(SteadyTime()) {}

Result<void> ChangeFeed::Start() {
  const auto positions = store_.ReadLanePositions();
  if (!positions) return tl::unexpected(positions.error());
  const auto origin = store_.ReadOrigin();
  if (!origin) return tl::unexpected(origin.error());
  origin_ = *origin;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const std::lock_guard lock(lanes_[i].mutex);
    lanes_[i].position = (*positions)[i];
  }
  last_answer_ = scheduler_.Now();
  scheduler_.PostAt(Work::kFeed, scheduler_.Now() + interval_, [this] { Poll(); });
  return {};
}

void ChangeFeed::OnCommitted(LanePosition at, std::vector<Event> events) {
  Lane& lane = lanes_[static_cast<size_t>(at.lane)];
  bool behind = false;
  {
    const std::lock_guard lock(lane.mutex);
    if (at.position <= lane.position) return;  // already read
    if (went_back_) return;                    // read later
    lane.own_ahead.emplace(at.position, std::move(events));
    TellOwn(lane);
    behind = !lane.own_ahead.empty();
  }
  if (behind) PollSoon();
}

void ChangeFeed::TellOwn(Lane& lane) {
  while (!lane.own_ahead.empty() && lane.own_ahead.begin()->first <= lane.position + 1) {
    auto next = lane.own_ahead.extract(lane.own_ahead.begin());
    if (next.key() <= lane.position) continue;
    lane.position = next.key();
    for (Event& event : next.mapped()) Tell(std::move(event));
  }
}

void ChangeFeed::Tell(Event event) {
  metrics_.election_series.Heard(event);
  if (const auto now = database_clock_.At(scheduler_.Now())) {
    ObserveSeconds(metrics_.observe_lag_seconds, std::max(Duration(0), *now - event.at));
  }
  hub_.Tell(std::move(event));
}

void ChangeFeed::PollSoon() {
  if (poll_is_near_.exchange(true)) return;
  scheduler_.Post(Work::kFeed, [this] {
    poll_is_near_ = false;
    (void)CatchUp();
  });
}

void ChangeFeed::Poll() {
  const bool answered = CatchUp();
  const auto pause = answered ? interval_ : std::max(interval_, kIntervalAfterFailure);
  scheduler_.PostAt(Work::kFeed, scheduler_.Now() + pause, [this] { Poll(); });
}

bool ChangeFeed::CatchUp() {
  const std::lock_guard one_poll(poll_mutex_);
  const SteadyTime asked = scheduler_.Now();
  const auto positions = store_.ReadLanePositions();
  const SteadyTime answered = scheduler_.Now();
  metrics_.feed_polls.Increment();
  ObserveSeconds(metrics_.database_seconds[Operation::kPoll], answered - asked);
  if (!positions) return false;
  if (went_back_ || WentBack(*positions)) return StartAnew();
  last_answer_ = answered;
  bool complete = true;
  for (int lane = 0; lane < kLaneCount; ++lane) {
    complete &= CatchUp(lane, (*positions)[static_cast<size_t>(lane)]);
  }
  return complete;
}

bool ChangeFeed::CatchUp(int number, uint64_t until) {
  Lane& lane = lanes_[static_cast<size_t>(number)];
  std::unique_lock lock(lane.mutex);
  while (lane.position < until) {
    const uint64_t after = lane.position;
    const uint64_t last = std::min(until, after + kPositionsPerRead);
    lock.unlock();
    const auto entries = store_.ReadFeed(number, after, last);
    if (!entries) return false;
    lock.lock();
    const uint64_t told = lane.position;  // what was committed here in the meantime is told already
    for (const FeedEntry& entry : *entries) {
      if (entry.position <= told) continue;
      metrics_.feed_events.Increment();
      Tell(entry.event);
    }
    lane.position = std::max(told, last);
    TellOwn(lane);
  }
  return true;
}

// A position that was read before this replica's last commit may be lower than what is told. One
// that is read *after* can only be lower if the database is another than before.
bool ChangeFeed::WentBack(const LanePositions& positions) {
  LanePositions told;
  bool behind = false;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const std::lock_guard lock(lanes_[i].mutex);
    told[i] = lanes_[i].position;
    behind |= positions[i] < told[i];
  }
  if (!behind) return false;
  const auto now = store_.ReadLanePositions();
  if (!now) return false;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if ((*now)[i] >= told[i]) continue;
    LogError("the database went back in time: it was replaced or restored",
             {{"lane", i}, {"from", told[i]}, {"to", (*now)[i]}});
    metrics_.database_resets.Increment();
    went_back_ = true;
    return true;
  }
  return false;
}

// Not before the schema is whole: whoever is told reads how the database is now. A dump that is
// being read in has its version before the last of its tables.
bool ChangeFeed::StartAnew() {
  const auto schema = store_.CheckSchema();
  if (!schema || *schema != SchemaState::kCurrent) return false;
  if (!store_.ListElections("", "", 1)) return false;
  const auto origin = store_.ReadOrigin();
  const auto positions = store_.ReadLanePositions();
  if (!origin || !positions) return false;
  origin_ = *origin;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const std::lock_guard lock(lanes_[i].mutex);
    lanes_[i].position = (*positions)[i];
    lanes_[i].own_ahead.clear();
  }
  metrics_.election_series.ForgetAll();
  hub_.TellReset();
  went_back_ = false;  // only now: nobody shall take what is new for what comes next
  last_answer_ = scheduler_.Now();
  return true;
}

}  // namespace tenure
