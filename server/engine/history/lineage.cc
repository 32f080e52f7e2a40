#include "server/engine/history/lineage.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "core/homes/own_row.h"
#include "server/engine/history/bump_terms.h"
#include "server/engine/history/service_id.h"
#include "server/log/log.h"

namespace tenure::engine {
namespace {

// A replica that dies while it raises the terms is replaced after this long.
constexpr Duration kTurn = std::chrono::seconds(30);

// A replica that has not noticed may answer renewals for this long: its last beat is still good.
constexpr Duration kNoticedByAll = kHomeGoodFor;

}  // namespace

Lineage::Lineage(Store& store, const Scheduler& scheduler, Metrics& metrics, OnLostCommits on_lost,
                 uint64_t seed, std::string service_id)
    : store_(store),
      scheduler_(scheduler),
      metrics_(metrics),
      on_lost_(on_lost),
      service_id_(std::move(service_id)),
      random_(seed),
      me_(random_() | 1) {}

std::optional<Error> Lineage::WhyNot(const HistoryMemory& memory,
                                     const HistoryReading& seen) const {
  if (auto wrong = WrongService(seen.session_key, service_id_)) return wrong;
  if (!IsAnotherService(memory, seen)) return std::nullopt;
  return ReplacedService(seen.session_key, memory.session_key);
}

Result<void> Lineage::Join() {
  HistoryMemory memory;
  {
    const MutexLock lock(mutex_);
    memory = memory_;
  }
  memory.home_went_back = home_went_back_;
  memory.somebody_lives = somebody_lives_;
  // First without a lock, in case another service works on this database.
  const auto key = store_.FindSessionKey();
  if (!key) return tl::unexpected(key.error());
  std::optional<Error> wrong = WrongService(key->value_or(""), service_id_);
  if (!refused_key_.empty() && key->value_or("") == refused_key_) wrong = wrong_service();
  if (wrong) return Refuse(*wrong);
  Assessment assessment;
  std::optional<Epoch> begun;
  std::optional<ServerIdentity> unknown;
  const auto decide = [&](const HistoryReading& seen) -> Result<std::optional<Epoch>> {
    unknown.reset();
    wrong = WhyNot(memory, seen);
    if (wrong) refused_key_ = seen.session_key;
    if (wrong) return tl::unexpected(*wrong);
    assessment = Assess(memory, seen);
    begun.reset();
    if (assessment.finding == Finding::kUnknown) {
      unknown = seen.server;
      return Fail(Reason::kStoreUnavailable,
                  "another server goes on with the history; this replica looks whether one lives "
                  "that saw the change");
    }
    if (assessment.finding == Finding::kBegins) {
      begun = NextEpoch(memory, seen, Epoch::State::kOpen, random_());
    }
    if (assessment.finding == Finding::kLost) {
      begun = NextEpoch(memory, seen, Epoch::State::kLost, random_());
    }
    return begun;
  };
  const auto reading = store_.AgreeOnHistory(memory.epoch, decide);
  if (wrong) return Refuse(*wrong);
  if (unknown) Watch(*unknown);
  if (!reading) return tl::unexpected(reading.error());
  watched_.reset();
  somebody_lives_.reset();
  const Epoch& epoch = begun ? *begun : *reading->latest;
  if (epoch.state == Epoch::State::kLost) {
    if (open_ || memory.epoch != epoch.number) Lose(assessment, epoch);
    open_ = false;
  }
  Remember(*reading, epoch);
  if (memory.home_went_back) home_went_back_ = false;
  store_.StayOn(reading->server.number);
  LogServer(reading->server);
  const bool knew_another = memory.epoch > 0 && memory.token != epoch.token;
  if (knew_another && epoch.state == Epoch::State::kRepaired) SayRaised(epoch);
  if (memory.epoch > 0 && reading->repaired > memory.epoch) ++repairs_;
  if (epoch.state != Epoch::State::kLost) open_ = true;
  return {};
}

void Lineage::Watch(const ServerIdentity& server) {
  store_.StayOn(server.number);
  const auto homes = store_.Beat({});  // of no home: changes nothing
  if (!homes) return;
  if (!watched_ || watched_->server != server.number) {
    watched_ = Watched{server.number, scheduler_.Now(), {}};
    somebody_lives_.reset();
    for (const HomeRow& home : homes->living) watched_->beats[home.id] = home.beat;
    return;
  }
  const bool beaten = std::ranges::any_of(homes->living, [&](const HomeRow& home) {
    const auto before = watched_->beats.find(home.id);
    return before == watched_->beats.end() || before->second < home.beat;
  });
  if (beaten) somebody_lives_ = true;
  if (!beaten && scheduler_.Now() - watched_->since >= kHomeGoodFor) somebody_lives_ = false;
}

Result<void> Lineage::Refuse(const Error& wrong) {
  open_ = false;
  store_.LeaveServer();
  const MutexLock lock(mutex_);
  if (!wrong_service_) LogError("another service's database is not used", {{"why", wrong.message}});
  wrong_service_ = wrong;
  return tl::unexpected(wrong);
}

void Lineage::Remember(const HistoryReading& reading, const Epoch& epoch) {
  const MutexLock lock(mutex_);
  // In the same epoch, nothing that was seen may be forgotten.
  const bool same = memory_.epoch == epoch.number && memory_.token == epoch.token &&
                    (reading.session_key.empty() || memory_.session_key == reading.session_key);
  if (!same) memory_.seen = {};
  memory_.epoch = epoch.number;
  memory_.token = epoch.token;
  memory_.Saw(reading.session_key);
  if (std::exchange(wrong_service_, std::nullopt)) ++repairs_;
  for (size_t i = 0; i < memory_.seen.size(); ++i) {
    memory_.seen[i] = std::max(memory_.seen[i], reading.offsets[i]);
  }
}

void Lineage::Lose(const Assessment& assessment, const Epoch& epoch) {
  lost_at_ = scheduler_.Now();
  lost_why_ = assessment.why;
  metrics_.database_resets.Increment();
  LogError("the database lost commits",
           {{"why", assessment.why},
            {"epoch", epoch.number},
            {"what_next", on_lost_ == OnLostCommits::kRecover
                              ? "all terms are raised once the longest lease is over"
                              : "nothing is granted until somebody runs: tenured bump-terms"}});
}

void Lineage::LogServer(const ServerIdentity& server) {
  ServerIdentity before;
  {
    const MutexLock lock(mutex_);
    before = std::exchange(server_, server).value_or(ServerIdentity());
  }
  const bool known = before.number == server.number && before.name == server.name;
  if (!known) LogInfo("database server", {{"name", server.name}, {"history", server.history}});
  if (before.number != server.number) before.warnings.clear();
  metrics_.database_warnings.Set(static_cast<double>(server.warnings.size()));
  for (const std::string& warning : server.warnings) {
    if (std::ranges::count(before.warnings, warning) > 0) continue;
    LogWarning("the database may lose commits", {{"why", warning}});
  }
}

std::optional<ServerIdentity> Lineage::server() const {
  const MutexLock lock(mutex_);
  return server_;
}

void Lineage::SayRaised(const Epoch& epoch) {
  constexpr uint64_t kLatest = std::numeric_limits<int64_t>::max();
  constexpr size_t kChangesMax = 100;  // the latest; sessions that were ended are among them
  const auto changes = store_.ReadAdminChanges(ElectionName{}, kLatest, kChangesMax);
  AdminChange raised;
  if (changes) {
    const auto found = std::ranges::find(*changes, AdminAction::kTermsRaised,
                                         [](const AdminRecord& it) { return it.change.action; });
    if (found != changes->end()) raised = found->change;
  }
  LogWarning("all terms were raised", {{"epoch", epoch.number},
                                       {"to", raised.term.value},
                                       {"by", raised.author.identity},
                                       {"why", raised.author.reason},
                                       {"what", raised.detail}});
}

Result<std::optional<Lineage::Turn>> Lineage::TakeTurn() {
  HistoryMemory memory;
  Duration longest_lease;
  {
    const MutexLock lock(mutex_);
    memory = memory_;
    longest_lease = longest_lease_;
  }
  const auto of_sessions = store_.LongestLease();
  if (!of_sessions) return tl::unexpected(of_sessions.error());
  longest_lease = std::max(longest_lease, *of_sessions);
  std::optional<Duration> wait;
  const auto take = [&](const HistoryReading& seen) -> Result<std::optional<Epoch>> {
    wait.reset();
    if (auto wrong = WhyNot(memory, seen)) return tl::unexpected(*std::move(wrong));
    std::optional<Epoch> epoch = seen.latest;
    if (!epoch || epoch->number != memory.epoch || epoch->state != Epoch::State::kLost) {
      return std::nullopt;
    }
    const bool free = epoch->repairer == 0 || epoch->repair_until <= seen.now;
    if (epoch->repairer != me_ && !free) return std::nullopt;
    epoch->repairer = me_;
    epoch->repair_until = seen.now + kTurn;
    // By this replica's clock: the database's may be another one since the failover.
    wait = kNoticedByAll + longest_lease -
           std::chrono::duration_cast<Duration>(scheduler_.Now() - lost_at_);
    return epoch;
  };
  const auto reading = store_.AgreeOnHistory(memory.epoch, take);
  if (!reading) return tl::unexpected(reading.error());
  if (!wait) return std::nullopt;
  return Turn{*wait, *reading};
}

Result<void> Lineage::KeepTurn() {
  const auto kept = TakeTurn();
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return Fail(Reason::kOverloaded, "another replica raises the terms");
  return {};
}

Result<void> Lineage::TryToRepair() {
  if (on_lost_ == OnLostCommits::kStop) return {};
  // A database that is being restored gets its tables one by one.
  const auto schema = store_.CheckSchema();
  if (!schema) return tl::unexpected(schema.error());
  if (*schema != SchemaState::kCurrent) return {};
  const auto turn = TakeTurn();
  if (!turn) return tl::unexpected(turn.error());
  if (!*turn || (*turn)->wait > Duration(0)) return {};

  const auto bumped = BumpTerms(store_, {"tenured", "commits were lost: " + lost_why_},
                                [this] { return KeepTurn(); });
  if (!bumped) return tl::unexpected(bumped.error());
  if (const auto kept = KeepTurn(); !kept) return kept;
  const auto begun = BeginRepairedEpoch(store_, (*turn)->history);
  if (!begun) return begun;
  return Join();
}

std::optional<HistoryPoint> Lineage::point() const {
  const MutexLock lock(mutex_);
  if (!open_ || home_went_back_) return std::nullopt;
  return HistoryPoint{memory_.epoch, memory_.seen};
}

bool Lineage::Fits(const HistoryPoint& point, const Partitions& partitions) {
  if (partitions.epoch != point.epoch) return false;
  for (size_t i = 0; i < point.seen.size(); ++i) {
    if (partitions.offsets[i] < point.seen[i]) return false;
  }
  return true;
}

void Lineage::Saw(const Partitions& partitions) {
  const MutexLock lock(mutex_);
  if (partitions.epoch != memory_.epoch) return;
  for (size_t i = 0; i < memory_.seen.size(); ++i) {
    memory_.seen[i] = std::max(memory_.seen[i], partitions.offsets[i]);
  }
}

void Lineage::Saw(const std::vector<PartitionOffset>& offsets, uint64_t epoch) {
  const MutexLock lock(mutex_);
  if (epoch != memory_.epoch) return;
  for (const PartitionOffset& at : offsets) {
    uint64_t& seen = memory_.seen[static_cast<size_t>(at.partition)];
    seen = std::max(seen, at.offset);
  }
}

void Lineage::SawLease(Duration lease_ttl) {
  const MutexLock lock(mutex_);
  longest_lease_ = std::max(longest_lease_, lease_ttl);
}

void Lineage::SawSessionKey(const std::string& key) {
  const MutexLock lock(mutex_);
  memory_.Saw(key);
}

std::optional<Error> Lineage::wrong_service() const {
  const MutexLock lock(mutex_);
  return wrong_service_;
}

Result<HistoryReading> ReadHistory(Store& store) {
  auto reading =
      store.AgreeOnHistory(0, [](const HistoryReading&) { return std::optional<Epoch>(); });
  if (reading) store.StayOn(reading->server.number);
  return reading;
}

Result<void> BeginRepairedEpoch(Store& store, const HistoryReading& raised) {
  const auto token_of = [](const HistoryReading& reading) {
    return reading.latest ? std::pair(reading.latest->number, reading.latest->token)
                          : std::pair(0UL, 0UL);
  };
  bool same = false;
  const auto reading =
      store.AgreeOnHistory(0, [&](const HistoryReading& seen) -> std::optional<Epoch> {
        same = seen.server.number == raised.server.number && token_of(seen) == token_of(raised);
        if (!same) return std::nullopt;
        return NextEpoch({}, seen, Epoch::State::kRepaired, std::random_device()());
      });
  if (!reading) return tl::unexpected(reading.error());
  if (!same)
    return Fail(Reason::kOverloaded, "the history has changed while its terms were raised");
  return {};
}

}  // namespace tenure::engine
