#include "bench/works/sql_candidate.h"

#include <algorithm>
#include <utility>

namespace tenure::bench {
namespace {

void Report(const std::function<void()>& report) {
  if (report) report();
}

}  // namespace

SqlCandidate::SqlCandidate(const SqlScheme& scheme, SqlPlace place, SqlReports reports)
    : scheme_(scheme),
      place_(std::move(place)),
      reports_(std::move(reports)),
      connection_(std::in_place, place_.port, place_.database),
      connection_id_(connection_->id()),
      thread_([this] { Live(); }) {}

SqlCandidate::~SqlCandidate() { Stop(); }

void SqlCandidate::End(Order order) {
  const std::lock_guard lock(mutex_);
  if (order_ == Order::kNone) order_ = order;
  ordered_.notify_all();
}

void SqlCandidate::Live() {
  auto turn = Clock::now() + place_.phase;
  Order order = WaitUntil(turn);
  if (order == Order::kNone) Report(reports_.on_stands);
  try {
    while (order == Order::kNone) {
      TakeTurn();
      turn = std::max(turn + (leads_ ? scheme_.renew_every : scheme_.attempt_every), Clock::now());
      order = WaitUntil(turn);
    }
    if (order == Order::kResign && leads_) Release();
  } catch (const std::exception& error) {
    if (reports_.on_broken) reports_.on_broken(error.what());
  }
}

SqlCandidate::Order SqlCandidate::WaitUntil(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  ordered_.wait_until(lock, time, [&] { return order_ != Order::kNone; });
  return order_;
}

void SqlCandidate::TakeTurn() {
  try {
    if (!connection_) {
      connection_.emplace(place_.port, place_.database);
      connection_id_ = connection_->id();
    }
    Learn(leads_ ? Ask(scheme_.renew) : Attempt());
  } catch (const SqlError& error) {
    if (error.IsLoss()) {
      connection_.reset();
      Learn(leads_ && !scheme_.held_by_connection);
    } else if (error.IsTransient()) {
      Report(reports_.on_failed);
    } else {
      throw;
    }
  }
}

bool SqlCandidate::Attempt() {
  if (!scheme_.first.empty() && std::exchange(first_, false) && Run(scheme_.first).IsYes()) {
    return true;
  }
  return Ask(scheme_.attempt);
}

bool SqlCandidate::Ask(const std::vector<std::string>& statements) {
  SqlAnswer last;
  for (const std::string& statement : statements) last = Run(statement);
  return last.IsYes();
}

SqlAnswer SqlCandidate::Run(const std::string& statement) {
  return connection_->Run(Filled(statement, place_.election, place_.candidate));
}

void SqlCandidate::Learn(bool leads) {
  const bool led = std::exchange(leads_, leads);
  if (leads) {
    Report(led ? reports_.on_renewed : reports_.on_leads);
  } else if (led) {
    Report(reports_.on_lost);
  }
}

void SqlCandidate::Release() {
  Report(reports_.on_resigning);
  (void)Run(scheme_.release);
  Learn(false);
}

}  // namespace tenure::bench
