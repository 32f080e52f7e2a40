#include "server/engine/feed/change_feed.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/limits.h"
#include "server/engine/history/service_id.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

// How many offsets one read may cover: bounds its memory.
constexpr uint64_t kOffsetsPerRead = 64;
// After a poll that failed.
constexpr auto kIntervalAfterFailure = std::chrono::milliseconds(250);
// Minimum pause between two polls, however many commits are announced.
constexpr auto kIntervalMin = std::chrono::milliseconds(2);
// How often to read what the server says about itself.
constexpr auto kServerCheckInterval = std::chrono::seconds(30);
// A replica that has not read the feed for this long may have missed the last events of an election
// that was purged since.
constexpr SteadyTime::duration kOutOfTouchMax = kUnusedMin / 2;

// Whether the leader's session may have ended with its term.
bool MayEndSession(const Event& event) {
  if (event.type != EventType::kVacated) return false;
  return event.cause == Cause::kExpired || event.cause == Cause::kDeposed ||
         event.cause == Cause::kSuperseded || event.cause == Cause::kSessionClosed;
}

}  // namespace

ChangeFeed::ChangeFeed(ReplicaState& replica, std::chrono::milliseconds interval)
    : store_(replica.store),
      scheduler_(replica.scheduler),
      hub_(replica.hub),
      metrics_(replica.metrics),
      lineage_(replica.lineage),
      cache_(replica.cache),
      home_(replica.home),
      database_clock_(replica.clock),
      interval_(interval) {}

Result<void> ChangeFeed::Start() {
  const auto partitions = store_.ReadPartitions();
  if (!partitions) return tl::unexpected(partitions.error());
  for (size_t i = 0; i < partitions_.size(); ++i) {
    const MutexLock lock(partitions_[i].mutex);
    partitions_[i].offset = partitions->offsets[i];
    cache_.Published(static_cast<int>(i), partitions->offsets[i]);
  }
  const MutexLock no_poll(poll_mutex_);
  repairs_ = lineage_.repairs();
  caught_up_at_ = scheduler_.Now();
  check_server_at_ = scheduler_.Now() + kServerCheckInterval;
  scheduler_.PostAt(Work::kFeed, scheduler_.Now() + interval_, [this] { Poll(); });
  return {};
}

void ChangeFeed::OnCommitted(PartitionOffset at, std::vector<Event> events) {
  Partition& partition = partitions_[static_cast<size_t>(at.partition)];
  bool behind = false;
  {
    const MutexLock lock(partition.mutex);
    if (at.offset <= partition.offset) return;  // already read
    if (rejoining_) return;                     // read later
    partition.own_ahead.emplace(at.offset, std::move(events));
    PublishOwn(at.partition, partition);
    behind = !partition.own_ahead.empty();
  }
  if (behind) PollSoon();
}

bool ChangeFeed::Nudged(const PartitionOffsets& offsets) {
  bool behind = false;
  for (size_t i = 0; i < partitions_.size(); ++i) {
    const MutexLock lock(partitions_[i].mutex);
    behind |= partitions_[i].offset < offsets[i];
  }
  if (behind) PollSoon();
  return behind;
}

void ChangeFeed::PublishOwn(int number, Partition& partition) {
  while (!partition.own_ahead.empty() &&
         partition.own_ahead.begin()->first <= partition.offset + 1) {
    auto next = partition.own_ahead.extract(partition.own_ahead.begin());
    if (next.key() <= partition.offset) continue;
    partition.offset = next.key();
    cache_.Published(number, partition.offset, next.mapped(), next.mapped().empty());
    for (Event& event : next.mapped()) Publish(std::move(event));
  }
}

void ChangeFeed::Publish(Event event) {
  // Before anybody hears of the session's end, this replica stops answering for it from memory.
  if (MayEndSession(event)) home_.Forget(event.leader.session);
  metrics_.election_series.Heard(event);
  if (const auto now = database_clock_.At(scheduler_.Now())) {
    ObserveSeconds(metrics_.observe_lag_seconds, std::max(Duration(0), *now - event.at));
  }
  hub_.Notify(std::move(event));
}

void ChangeFeed::PollSoon() {
  if (!poll_is_near_.exchange(true)) PlanPoll();
}

void ChangeFeed::PlanPoll() {
  const SteadyTime when = next_poll_at_;
  const auto poll = [this] {
    // A poll that has ended since may have postponed it.
    if (scheduler_.Now() < next_poll_at_.load()) return PlanPoll();
    poll_is_near_ = false;
    (void)CatchUp();
  };
  if (when <= scheduler_.Now()) return scheduler_.Post(Work::kFeed, poll);
  scheduler_.PostAt(Work::kFeed, when, poll);
}

bool ChangeFeed::Confirm(const std::optional<HistoryPoint>& point,
                         const Result<Partitions>& partitions) {
  const bool fits = partitions && point && !rejoining_ && Lineage::Fits(*point, *partitions);
  if (!fits) {
    PollSoon();
  } else if (!Nudged(partitions->offsets)) {
    caught_up_at_ = scheduler_.Now();
  }
  return fits;
}

void ChangeFeed::Poll() {
  CheckServer();
  const SteadyTime due = caught_up_at_.load() + interval_;
  if (scheduler_.Now() < due) {
    scheduler_.PostAt(Work::kFeed, due, [this] { Poll(); });
    return;
  }
  const bool answered = CatchUp();
  const SteadyTime::duration pause = answered ? interval_ : kIntervalAfterFailure;
  scheduler_.PostAt(Work::kFeed, scheduler_.Now() + pause, [this] { Poll(); });
}

void ChangeFeed::CheckServer() {
  const MutexLock one_poll(poll_mutex_);
  if (scheduler_.Now() < check_server_at_) return;
  check_server_at_ = scheduler_.Now() + kServerCheckInterval;
  // If it fails, the next poll or commit finds out why.
  if (lineage_.open() && !rejoining_) (void)lineage_.Join();
}

bool ChangeFeed::CatchUp() {
  const MutexLock one_poll(poll_mutex_);
  metrics_.feed_polls.Increment();
  const bool complete = ReadAll();
  const SteadyTime::duration pause = complete ? kIntervalMin : kIntervalAfterFailure;
  next_poll_at_ = scheduler_.Now() + pause;
  return complete;
}

bool ChangeFeed::ReadAll() {
  const auto partitions = ReadPartitions();
  if (!partitions) return false;
  if (repairs_ != lineage_.repairs()) return Restart();
  rejoining_ = false;
  const SteadyTime now = scheduler_.Now();
  if (now - caught_up_at_.load() > kOutOfTouchMax) hub_.NotifyReset();
  bool complete = true;
  for (int partition = 0; partition < kPartitionCount; ++partition) {
    complete &= CatchUp(partition, partitions->offsets[static_cast<size_t>(partition)]);
  }
  if (complete) caught_up_at_ = now;
  return complete;
}

std::optional<Partitions> ChangeFeed::ReadPartitions() {
  for (bool rejoined = false;; rejoined = true) {
    // After a read that failed, the database may be another one, however well its numbers fit.
    const auto point = rejoined || !rejoining_ ? lineage_.point() : std::nullopt;
    if (point) {
      const SteadyTime asked = scheduler_.Now();
      const auto partitions = store_.ReadPartitions();
      ObserveSeconds(metrics_.database_seconds[Operation::kPoll], scheduler_.Now() - asked);
      if (partitions && Lineage::Fits(*point, *partitions)) {
        lineage_.Saw(*partitions);
        return *partitions;
      }
    }
    if (rejoined || !Rejoin()) return std::nullopt;
  }
}

bool ChangeFeed::Rejoin() {
  rejoining_ = true;
  if (!lineage_.Join()) {
    if (lineage_.wrong_service()) ForgetService();
    return false;
  }
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
  Partition& partition = partitions_[static_cast<size_t>(number)];
  MutexLock lock(partition.mutex);
  while (partition.offset < until) {
    const uint64_t after = partition.offset;
    const uint64_t last = std::min(until, after + kOffsetsPerRead);
    lock.Unlock();
    const auto entries = store_.ReadFeed(number, after, last);
    if (!entries) return false;
    lock.Lock();
    std::vector<Event> events;
    std::set<uint64_t> offsets;
    for (const FeedEntry& entry : *entries) {
      // What was committed here in the meantime is already published.
      if (entry.offset <= partition.offset) continue;
      events.push_back(entry.event);
      offsets.insert(entry.offset);
    }
    const bool silent = partition.offset + offsets.size() < last;
    partition.offset = std::max(partition.offset, last);
    cache_.Published(number, partition.offset, events, silent);
    for (Event& event : events) {
      metrics_.feed_events.Increment();
      Publish(std::move(event));
    }
    PublishOwn(number, partition);
  }
  return true;
}

// Waits until the schema is complete: watchers then read the database. A dump that is being
// restored sets the version before its last tables.
bool ChangeFeed::Restart() {
  const auto schema = store_.CheckSchema();
  if (!schema || *schema != SchemaState::kCurrent) return false;
  if (!store_.ListElections("", "", 1)) return false;
  if (!ReadSessionKey()) return false;
  const auto partitions = store_.ReadPartitions();
  if (!partitions) return false;
  for (size_t i = 0; i < partitions_.size(); ++i) {
    const MutexLock lock(partitions_[i].mutex);
    partitions_[i].offset = partitions->offsets[i];
    cache_.Published(static_cast<int>(i), partitions->offsets[i]);
    partitions_[i].own_ahead.clear();
  }
  metrics_.election_series.ForgetAll();
  cache_.ForgetAll();
  repairs_ = lineage_.repairs();  // before the reset: watchers read at once
  hub_.NotifyReset();
  caught_up_at_ = scheduler_.Now();
  rejoining_ = false;  // only now: what is new must not be taken for the next change
  return true;
}

Result<void> ChangeFeed::ReadSessionKey() {
  auto key = store_.SessionKey();
  if (!key) return tl::unexpected(key.error());
  lineage_.SawSessionKey(*key);
  const std::string id = ServiceIdOf(*key);
  const MutexLock lock(service_mutex_);
  session_key_ = *std::move(key);
  const std::string before = std::exchange(service_id_, id);
  if (before == id) return {};
  if (before.empty()) {
    LogInfo("service", {{"service_id", id}});
  } else {
    LogError("the database was replaced by that of another service",
             {{"service_id", id}, {"before", before}});
    metrics_.service_info.Remove(service_series_);
  }
  service_series_ = &metrics_.service_info.Add({{"service_id", id}});
  service_series_->Set(1);
  return {};
}

void ChangeFeed::ForgetService() {
  const MutexLock lock(service_mutex_);
  if (std::exchange(service_id_, "").empty()) return;
  metrics_.service_info.Remove(service_series_);
}

std::string ChangeFeed::session_key() const {
  const MutexLock lock(service_mutex_);
  return session_key_;
}

std::string ChangeFeed::service_id() const {
  const MutexLock lock(service_mutex_);
  return service_id_;
}

}  // namespace tenure::engine
