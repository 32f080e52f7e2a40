#include <algorithm>
#include <map>
#include <utility>

#include "base/mutex.h"
#include "proto/rich_status.h"
#include "tenure/fence.h"

namespace tenure {
namespace {

using Deadline = std::chrono::system_clock::time_point;

grpc::Status Stale(const Fence& fence, uint64_t highest) {
  return RichStatus(grpc::StatusCode::FAILED_PRECONDITION,
                    "term " + std::to_string(fence.term) + " of election '" + fence.election +
                        "' is out of date: term " + std::to_string(highest) + " has been seen",
                    {"STALE_TERM", {{"current_term", std::to_string(highest)}}});
}

}  // namespace

class TermGuard::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(TermGuardOptions options) : options_(std::move(options)) {}

  Entry Enter(const Fence& fence, Deadline deadline) {
    // By the monotonic clock: the time of day may be set meanwhile.
    const auto until = std::chrono::steady_clock::now() +
                       std::min<Deadline::duration>(deadline - std::chrono::system_clock::now(),
                                                    options_.wait_max);
    MutexLock lock(mutex_);
    Seat* seat = Find(fence.election);
    if (seat == nullptr) {
      return Refused({grpc::StatusCode::RESOURCE_EXHAUSTED,
                      "the guard already tracks " + std::to_string(options_.elections_max) +
                          " elections, which is its elections_max"});
    }
    while (true) {
      while (MustWait(fence, *seat) && changed_.WaitUntil(lock, until)) continue;
      if (MustWait(fence, *seat)) {
        return Refused({grpc::StatusCode::UNAVAILABLE, "calls from a lower term of election '" +
                                                           fence.election + "' are still running"});
      }
      if (fence.term < seat->highest) return Refused(Stale(fence, seat->highest));
      if (fence.term <= seat->kept) return Within(*seat);
      tl::expected<uint64_t, grpc::Status> kept = fence.term;
      if (options_.raise) {
        seat->raising = true;
        lock.Unlock();
        kept = Keep(fence);
        lock.Lock();
        seat->raising = false;
        changed_.NotifyAll();
      }
      if (!kept) return Refused(kept.error());
      Kept(*seat, *kept);
    }
  }

  void Raise(const Fence& fence) {
    const MutexLock lock(mutex_);
    Seat* seat = Find(fence.election);
    if (seat != nullptr) SetHighest(*seat, fence.term);
  }

  uint64_t highest(const std::string& election) const {
    const MutexLock lock(mutex_);
    const auto found = seats_.find(election);
    return found == seats_.end() ? 0 : found->second.highest;
  }

 private:
  struct Seat {
    uint64_t highest = 0;        // highest term seen
    uint64_t kept = 0;           // highest term let in, which `raise` has stored
    bool raising = false;        // `raise` is under way
    uint64_t within = 0;         // calls of the highest term
    uint64_t within_before = 0;  // calls of lower terms
  };

  // An exception from `raise` refuses this call only.
  [[nodiscard]] tl::expected<uint64_t, grpc::Status> Keep(const Fence& fence) const try {
    const auto kept = options_.raise(fence);
    if (!kept || *kept >= fence.term) return kept;
    return tl::unexpected(grpc::Status(grpc::StatusCode::INTERNAL,
                                       "term " + std::to_string(fence.term) + " of election '" +
                                           fence.election + "' is not stored: `raise` returned " +
                                           std::to_string(*kept)));
  } catch (const std::exception& error) {
    return tl::unexpected(grpc::Status(grpc::StatusCode::INTERNAL, error.what()));
  } catch (...) {
    return tl::unexpected(grpc::Status(grpc::StatusCode::INTERNAL, "the guard's `raise` failed"));
  }

  static Entry Refused(grpc::Status status) { return {std::move(status), nullptr}; }

  // Whether calls of lower terms are still inside, or `raise` has yet to return for this term.
  static bool MustWait(const Fence& fence, const Seat& seat) {
    if (fence.term < seat.highest) return false;  // it is refused at once
    return fence.term > seat.kept ? seat.raising : seat.within_before > 0;
  }

  // Null if the election is unknown and there is no room for it.
  Seat* Find(const std::string& election) TENURE_REQUIRES(mutex_) {
    const auto found = seats_.find(election);
    if (found != seats_.end()) return &found->second;
    if (seats_.size() >= options_.elections_max) return nullptr;
    return &seats_[election];
  }

  void SetHighest(Seat& seat, uint64_t term) TENURE_REQUIRES(mutex_) {
    if (term <= seat.highest) return;
    seat.highest = term;
    seat.within_before += std::exchange(seat.within, 0);
    changed_.NotifyAll();
  }

  // `raise` has stored this term.
  void Kept(Seat& seat, uint64_t term) TENURE_REQUIRES(mutex_) {
    seat.kept = std::max(seat.kept, term);
    SetHighest(seat, term);
  }

  Entry Within(Seat& seat) TENURE_REQUIRES(mutex_) {
    ++seat.within;
    return {grpc::Status::OK, std::shared_ptr<void>(nullptr, [self = shared_from_this(), &seat,
                                                              term = seat.highest](void*) {
              const MutexLock lock(self->mutex_);
              term == seat.highest ? --seat.within : --seat.within_before;
              self->changed_.NotifyAll();
            })};
  }

  const TermGuardOptions options_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::map<std::string, Seat> seats_ TENURE_GUARDED_BY(mutex_);  // a seat is never removed
};

TermGuard::TermGuard(TermGuardOptions options)
    : state_(std::make_shared<State>(std::move(options))) {}

TermGuard::~TermGuard() = default;

TermGuard::Entry TermGuard::Enter(const grpc::ServerContextBase& context,
                                  const std::string& election) {
  const auto fence = FenceOf(context);
  if (!fence) return {fence.error(), nullptr};
  if (fence->election != election) {
    return {RichStatus(grpc::StatusCode::INVALID_ARGUMENT,
                       "the call carries a term of election '" + fence->election +
                           "', but election '" + election + "' guards this",
                       {"INVALID_ELECTION_NAME"}),
            nullptr};
  }
  return Enter(*fence, context.deadline());
}

TermGuard::Entry TermGuard::Enter(const Fence& fence, Deadline deadline) {
  return state_->Enter(fence, deadline);
}

grpc::Status TermGuard::Check(const grpc::ServerContextBase& context, const std::string& election) {
  return Enter(context, election).status();
}

void TermGuard::Raise(const Fence& fence) { state_->Raise(fence); }

uint64_t TermGuard::highest(const std::string& election) const { return state_->highest(election); }

}  // namespace tenure
