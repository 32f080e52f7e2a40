#include "server/engine/change_feed.h"

#include <algorithm>
#include <utility>

#include "server/log/log.h"

namespace tenure {
namespace {

// How many positions one read may cover: bounds its memory.
constexpr uint64_t kPositionsPerRead = 64;
constexpr auto kIntervalAfterFailure = std::chrono::milliseconds(250);

}  // namespace

ChangeFeed::ChangeFeed(Store& store, Scheduler& scheduler, WatchHub& hub, Metrics& metrics,
                       Lineage& lineage, const DatabaseClock& database_clock,
                       std::chrono::milliseconds interval)
    : store_(store),
      scheduler_(scheduler),
      hub_(hub),
      metrics_(metrics),
      lineage_(lineage),
      database_clock_(database_clock),
      interval_(interval),
      outages_(scheduler.Now(), interval) {}

Result<void> ChangeFeed::Start() {
  const auto lanes = store_.ReadLanes();
  if (!lanes) return tl::unexpected(lanes.error());
  const auto origin = store_.ReadOrigin();
  if (!origin) return tl::unexpected(origin.error());
  origin_ = *origin;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const MutexLock lock(lanes_[i].mutex);
    lanes_[i].position = lanes->positions[i];
  }
  const MutexLock no_poll(poll_mutex_);
  repairs_ = lineage_.repairs();
  if (lineage_.open()) outages_.Answered(scheduler_.Now());
  scheduler_.PostAt(Work::kFeed, scheduler_.Now() + interval_, [this] { Poll(); });
  return {};
}

void ChangeFeed::OnCommitted(LanePosition at, std::vector<Event> events) {
  Lane& lane = lanes_[static_cast<size_t>(at.lane)];
  bool behind = false;
  {
    const MutexLock lock(lane.mutex);
    if (at.position <= lane.position) return;  // already read
    if (rejoining_) return;                    // read later
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
  const MutexLock one_poll(poll_mutex_);
  metrics_.feed_polls.Increment();
  const auto lanes = ReadLanes();
  if (!lanes) return false;
  if (repairs_ != lineage_.repairs()) return StartAnew();
  rejoining_ = false;
  outages_.Answered(scheduler_.Now());
  bool complete = true;
  for (int lane = 0; lane < kLaneCount; ++lane) {
    complete &= CatchUp(lane, lanes->positions[static_cast<size_t>(lane)]);
  }
  return complete;
}

std::optional<Lanes> ChangeFeed::ReadLanes() {
  for (bool rejoined = false;; rejoined = true) {
    if (const auto stand = lineage_.stand()) {
      const SteadyTime asked = scheduler_.Now();
      const auto lanes = store_.ReadLanes();
      ObserveSeconds(metrics_.database_seconds[Operation::kPoll], scheduler_.Now() - asked);
      if (lanes && Lineage::Fits(*stand, *lanes)) {
        lineage_.Saw(*lanes);
        return *lanes;
      }
    }
    if (rejoined || !Rejoin()) return std::nullopt;
  }
}

bool ChangeFeed::Rejoin() {
  rejoining_ = true;
  if (!lineage_.Join()) return false;
  if (!lineage_.open()) {
    const auto repaired = lineage_.TryToRepair();
    const std::string why_not = repaired ? "" : repaired.error().message;
    if (!why_not.empty() && why_not != why_not_repaired_) {
      LogWarning("cannot raise the terms yet", {{"error", why_not}});
    }
    why_not_repaired_ = why_not;
  }
  return lineage_.open();
}

bool ChangeFeed::CatchUp(int number, uint64_t until) {
  Lane& lane = lanes_[static_cast<size_t>(number)];
  MutexLock lock(lane.mutex);
  while (lane.position < until) {
    const uint64_t after = lane.position;
    const uint64_t last = std::min(until, after + kPositionsPerRead);
    lock.Unlock();
    const auto entries = store_.ReadFeed(number, after, last);
    if (!entries) return false;
    lock.Lock();
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

// Not before the schema is whole: whoever is told reads how the database is now. A dump that is
// being read in has its version before the last of its tables.
bool ChangeFeed::StartAnew() {
  const auto schema = store_.CheckSchema();
  if (!schema || *schema != SchemaState::kCurrent) return false;
  if (!store_.ListElections("", "", 1)) return false;
  const auto origin = store_.ReadOrigin();
  const auto lanes = store_.ReadLanes();
  if (!origin || !lanes) return false;
  origin_ = *origin;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const MutexLock lock(lanes_[i].mutex);
    lanes_[i].position = lanes->positions[i];
    lanes_[i].own_ahead.clear();
  }
  metrics_.election_series.ForgetAll();
  hub_.TellReset();
  repairs_ = lineage_.repairs();
  rejoining_ = false;  // only now: nobody shall take what is new for what comes next
  outages_.Answered(scheduler_.Now());
  return true;
}

}  // namespace tenure
