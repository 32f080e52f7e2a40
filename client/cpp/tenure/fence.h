// Fencing of gRPC calls: a leader sends its term with each call, and the called server refuses any
// term lower than the highest it has seen.
//
// The caller, a leader:
//
//   .lead = [&](const tenure::v1::Leadership& seat, std::stop_token stop) {
//     grpc::ClientContext context;
//     tenure::Attach({.election = "orders", .term = seat.term()}, context);
//     store->Append(&context, request, &response);
//   }
//
// The called server, with one TermGuard for all handlers that touch the same resource:
//
//   grpc::Status Append(grpc::ServerContext* context, ...) override {
//     const auto entry = guard_.Enter(*context, "orders");
//     if (!entry.ok()) return entry.status();
//     ...  // the effects
//   }
//
// What it promises. While an entry exists, no call of a higher term is let in. Once a higher term
// has been seen, no call of a lower one is let in. So all effects that a term makes under an entry
// come before those of the next term, however long a call was on its way or its process was paused.
//
// What it does not promise
// - It refuses an old term as of the first call of a newer one, not as of the newer term's grant. A
//   leader that reads data elsewhere before its first call here may miss later changes by the old
//   leader. To learn of terms sooner, call Raise from a LeaderCache's on_change.
// - A guard is the memory of one process. Two processes that serve the same data, or one that
//   restarts, do not know each other's terms, unless `raise` stores the highest term with the data.
//   If several processes write to the same data at the same time, only a comparison within the
//   data's own transaction is enough: see docs/fencing.md.
// - It trusts the caller's term. It guards against leaders that are late, not against liars.
//
// There is nothing here that guards a whole service without a line in each handler, because it
// would not be safe. In gRPC C++, a server's interceptor cannot keep a handler from running: it
// cannot hijack the call, and cancelling the call does not stop the handler (as of 1.51; a test
// shows it). An AuthMetadataProcessor cannot know when a handler has ended.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/client_interceptor.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace tenure {

// The metadata keys of a call, for callers in other languages: the election's name in bytes, and
// the term in decimal digits.
inline constexpr char kElectionMetadata[] = "tenure-election-bin";
inline constexpr char kTermMetadata[] = "tenure-term";

struct Fence {
  std::string election;
  uint64_t term = 0;
};

// --- The caller ---

// Makes the call carry this fence. Call it once per context.
void Attach(const Fence& fence, grpc::ClientContext& context);

// Attaches a fence to each call of a channel, with the term that `term` returns when the call is
// made. For calls whose context has no fence. If the term is 0, or another one when a prepared call
// is started, the call is not sent, and fails at once with FAILED_PRECONDITION and NOT_LEADER.
// `term` may be called from any thread, and must neither wait nor throw.
//
// The content of a call is decided before the call is sent. In between, a leader may lose the seat
// and win it back, so that Elector::term() is no longer the term of the decision. Use the term of
// the decision, and let the elector say whether it is still current:
//
//   [&elector, term = seat.term()] { return elector.term() == term ? term : 0; }
[[nodiscard]] std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> FenceCalls(
    std::string election, std::function<uint64_t()> term);

// --- The called ---

// The fence that a call carries. INVALID_ARGUMENT with INVALID_ELECTION_NAME or INVALID_TERM unless
// the call carries exactly one election and one term that is not zero.
[[nodiscard]] tl::expected<Fence, grpc::Status> FenceOf(const grpc::ServerContextBase& context);

struct TermGuardOptions {
  // Maximum number of elections; calls for further ones are refused (RESOURCE_EXHAUSTED). There
  // must be a limit, because terms are never forgotten.
  size_t elections_max = 10'000;
  // How long a call may wait for earlier calls of a lower term to leave, but never beyond its own
  // deadline; after that it fails with UNAVAILABLE. Zero: no waiting, for handlers that must not
  // block, such as those of the callback API.
  std::chrono::milliseconds wait_max{10'000};
  // Stores the highest term with the guarded data, so that it outlives the process. Called once
  // before the first call of each new highest term is let in. It must store the term, unless a
  // higher one is stored, and return the term that is then stored. An error refuses the call and
  // changes nothing; the next call tries again. Called for one term of an election at a time. It
  // may block; what it throws, and a lower term, are errors, too (INTERNAL). Empty: after a
  // restart, the first call is trusted, whatever its term.
  std::function<tl::expected<uint64_t, grpc::Status>(const Fence&)> raise = {};
};

// Knows the highest term of each election, and which calls are inside. Thread-safe.
class TermGuard {
 public:
  class Entry;

  explicit TermGuard(TermGuardOptions options = {});
  ~TermGuard();
  TermGuard(const TermGuard&) = delete;
  TermGuard& operator=(const TermGuard&) = delete;

  // Lets in a call that carries a fence for `election`, the election that guards what the handler
  // touches. Keep the entry until the last effect. Errors:
  // - INVALID_ARGUMENT with INVALID_ELECTION_NAME, INVALID_TERM: no fence, or one of another
  // election.
  // - FAILED_PRECONDITION with STALE_TERM, metadata `current_term`: the caller no longer leads.
  // - UNAVAILABLE, RESOURCE_EXHAUSTED, and the errors of `raise`: see the options.
  [[nodiscard]] Entry Enter(const grpc::ServerContextBase& context, const std::string& election);
  // The same, with a fence from elsewhere.
  [[nodiscard]] Entry Enter(const Fence& fence, std::chrono::system_clock::time_point deadline);

  // Enters and leaves at once, for handlers that compare the term again within a transaction. By
  // itself, this does not keep the effects of two terms apart.
  [[nodiscard]] grpc::Status Check(const grpc::ServerContextBase& context,
                                   const std::string& election);

  // Reports that a term has been granted: lower ones are refused from now on. Does not wait for
  // calls that are inside, and does not call `raise`.
  void Raise(const Fence& fence);
  // The highest term seen so far; 0 if none.
  [[nodiscard]] uint64_t highest(const std::string& election) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

// Whether a call was let in. The call leaves when the entry is destroyed, on any thread.
class TermGuard::Entry {
 public:
  Entry(Entry&&) noexcept = default;
  Entry& operator=(Entry&&) noexcept = default;

  [[nodiscard]] bool ok() const { return status_.ok(); }
  // Return it from the handler unless it is ok.
  [[nodiscard]] const grpc::Status& status() const { return status_; }

 private:
  friend class TermGuard;
  Entry(grpc::Status status, std::shared_ptr<void> within)
      : status_(std::move(status)), within_(std::move(within)) {}

  grpc::Status status_;
  std::shared_ptr<void> within_;  // the call leaves when this is released
};

}  // namespace tenure
