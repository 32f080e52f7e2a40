#include "server/engine/home/home_state.h"

#include <algorithm>
#include <chrono>

namespace tenure::engine {

void HomeState::Begin(HomeId id, uint64_t repairs) {
  const MutexLock lock(mutex_);
  repairs_ = repairs;
  row_.emplace(id, kHomeGoodFor);
  kept_.Clear();
  watch_ = {};
}

void HomeState::End() {
  const MutexLock lock(mutex_);
  row_.reset();
  kept_.Clear();
}

bool HomeState::begun() const {
  const MutexLock lock(mutex_);
  return row_.has_value();
}

bool HomeState::BelongsTo(uint64_t repairs) const {
  const MutexLock lock(mutex_);
  return row_ && repairs_ == repairs;
}

std::optional<HomeWitness> HomeState::witness() const {
  const MutexLock lock(mutex_);
  if (!row_) return std::nullopt;
  return HomeWitness{row_->id(), row_->acknowledged()};
}

std::variant<Result<KeptSessions::Renewal>, HomeState::Unanswered> HomeState::Renew(
    const SessionId& id, const Principal& principal) {
  const MutexLock lock(mutex_);
  const Session* kept = kept_.Find(id);
  if (kept == nullptr) return Unanswered::kElsewhere;
  if (!kept->MayBeUsedBy(principal)) {
    return Result<KeptSessions::Renewal>(Fail(Reason::kSessionNotFound, "no such session"));
  }
  auto renewed = kept_.Renew(id, ServiceNow());
  if (!row_ || !row_->GoodAt(scheduler_.HomeNow())) return Unanswered::kWaits;
  return Result<KeptSessions::Renewal>(*std::move(renewed));
}

bool HomeState::Good() const {
  const MutexLock lock(mutex_);
  return row_ && row_->GoodAt(scheduler_.HomeNow());
}

size_t HomeState::kept() const {
  const MutexLock lock(mutex_);
  return kept_.size();
}

HomeState::Moment HomeState::Now() const {
  const MutexLock lock(mutex_);
  return {row_ ? row_->id() : HomeId{}, ServiceNow()};
}

void HomeState::Opened(const Session& session, const Moment& begun) {
  const MutexLock lock(mutex_);
  if (IsFresh(begun)) kept_.Opened(session, ServiceNow());
}

void HomeState::Adopted(const Session& session, const Moment& begun) {
  const MutexLock lock(mutex_);
  if (IsFresh(begun)) kept_.Adopted(session, ServiceNow(), kHomeGoodFor);
}

void HomeState::Found(const std::vector<Session>& sessions, const Moment& begun) {
  const MutexLock lock(mutex_);
  if (!IsFresh(begun)) return;
  for (const Session& session : sessions) kept_.Found(session, ServiceNow(), kHomeGoodFor);
}

void HomeState::Ended(const KeptSessions::Silent& silent, const Moment& begun) {
  const MutexLock lock(mutex_);
  if (IsFresh(begun)) kept_.Ended(silent);
}

void HomeState::NotEnded(const KeptSessions::Silent& silent, const Moment& begun) {
  const MutexLock lock(mutex_);
  if (IsFresh(begun)) kept_.NotEnded(silent);
}

void HomeState::Forget(const SessionId& id) {
  const MutexLock lock(mutex_);
  kept_.Forget(id);
}

std::vector<KeptSessions::Silent> HomeState::TakeSilent(size_t limit) {
  const MutexLock lock(mutex_);
  return row_ ? kept_.TakeSilent(ServiceNow(), limit) : std::vector<KeptSessions::Silent>();
}

std::optional<SteadyTime> HomeState::NextSilence() const {
  const MutexLock lock(mutex_);
  const auto due = kept_.NextDue();
  if (!row_ || !due) return std::nullopt;
  if (!row_->GoodAt(scheduler_.HomeNow()) && ServiceNow() < *due) return std::nullopt;
  return When(*due);
}

std::vector<HomeWatch::Orphaned> HomeState::Orphans() const {
  const MutexLock lock(mutex_);
  return watch_.Orphans(ServiceNow());
}

std::vector<HomeRow> HomeState::Overdue() const {
  const MutexLock lock(mutex_);
  return watch_.Overdue(ServiceNow());
}

std::optional<SteadyTime> HomeState::NextOverdue() const {
  const MutexLock lock(mutex_);
  const auto next = watch_.NextOverdue();
  if (!row_ || !next) return std::nullopt;
  return When(*next);
}

void HomeState::Died(HomeId home) {
  const MutexLock lock(mutex_);
  watch_.Died(home, ServiceNow());
}

bool HomeState::AnyGone() const {
  const MutexLock lock(mutex_);
  return watch_.AnyGone();
}

bool HomeState::EndsAreLate() const {
  const MutexLock lock(mutex_);
  const auto oldest = kept_.OldestDue();
  return oldest && ServiceNow() - *oldest > kHomeGoodFor;
}

std::optional<OwnRow::Write> HomeState::BeginWrite() {
  const MutexLock lock(mutex_);
  if (!row_) return std::nullopt;
  return row_->Begin(scheduler_.HomeNow());
}

std::optional<double> HomeState::OnBeat(const OwnRow::Write& write) {
  const MutexLock lock(mutex_);
  if (!row_ || row_->id() != write.home) return std::nullopt;
  const HomeTime now = scheduler_.HomeNow();
  const HomeTime until = row_->good_until();
  if (!row_->GoodAt(now)) watch_.Interrupted();
  row_->OnBeat(write, now);
  if (until == HomeTime()) return std::nullopt;
  const double whole = std::chrono::duration<double>(row_->good_until() - write.sent).count();
  return std::clamp(std::chrono::duration<double>(until - now).count() / whole, 0.0, 1.0);
}

void HomeState::OnNumbered(const OwnRow::Write& write) {
  const MutexLock lock(mutex_);
  if (!row_ || row_->id() != write.home) return;
  row_->OnNumbered(write);
}

void HomeState::OnUnknown(const OwnRow::Write& write) {
  const MutexLock lock(mutex_);
  if (row_ && row_->id() == write.home) row_->OnUnknown(write);
}

void HomeState::OnRefused(const OwnRow::Write& write) {
  const MutexLock lock(mutex_);
  if (row_ && row_->id() == write.home) row_->OnRefused(write);
}

void HomeState::Departed(const std::vector<NumberedDeparture>& departures) {
  const MutexLock lock(mutex_);
  if (!row_ || departures.empty()) return;
  for (const NumberedDeparture& it : departures) kept_.Departed(it.session, it.moves);
  row_->Knows(departures.back().number);
}

uint64_t HomeState::known_departures() const {
  const MutexLock lock(mutex_);
  return row_ ? row_->departures() : 0;
}

void HomeState::Saw(const std::vector<HomeRow>& living, const std::vector<HomeId>& gone) {
  const MutexLock lock(mutex_);
  watch_.Saw(living, gone, ServiceNow());
}

ServiceTime HomeState::ServiceNow() const {
  return row_ ? row_->ServiceTimeAt(scheduler_.HomeNow()) : ServiceTime{};
}

SteadyTime HomeState::When(ServiceTime time) const {
  return scheduler_.Now() + (row_->When(time) - scheduler_.HomeNow());
}

bool HomeState::IsFresh(const Moment& begun) const {
  return row_ && row_->id() == begun.incarnation &&
         ServiceNow() - begun.at <= KeptSessions::kReplyMax;
}

}  // namespace tenure::engine
