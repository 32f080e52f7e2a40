// Fencing of gRPC calls: who leads sends its term with each call, and what is called refuses a term
// that is lower than the highest it has seen.
//
// The caller, a leader:
//
//   .lead = [&](const tenure::v1::Leadership& seat, std::stop_token stop) {
//     grpc::ClientContext context;
//     tenure::Attach({.election = "orders", .term = seat.term()}, context);
//     store->Append(&context, request, &response);
//   }
//
// The called, with one TermGuard for all handlers that touch the same thing:
//
//   grpc::Status Append(grpc::ServerContext* context, ...) override {
//     const auto entry = guard_.Enter(*context, "orders");
//     if (!entry.ok()) return entry.status();
//     ...  // the effects
//   }
//
// What it promises. While an entry is kept, no call of a higher term is let in; once a higher term
// was seen, no call of a lower one is. So the effects of a term that are made under an entry all
// come before those of the next one, however long a call was on its way, or its process was paused.
//
// What it does not promise
// - It refuses an old term from the first call of a newer one on, not from its grant on. A leader
//   that reads elsewhere before it has made a call of its own may read what an old leader changes
//   after that. To hear of terms sooner, call Raise from a LeaderCache's on_change.
// - One guard is one process's memory. Two processes that serve the same data, or one that
// restarts,
//   have seen nothing of each other's terms, unless `raise` keeps the highest term with the data.
//   If several processes write to the same data at the same time, only a comparison within that
//   data's own transaction is enough: docs/fencing.md.
// - The term is what the caller says. It guards against leaders that are late, not against those
//   that lie.
//
// In gRPC C++ a server's interceptor cannot keep a handler from running: it may neither hijack the
// call, nor does cancelling it stop the handler (found out with 1.51, and kept as a test). Nor can
// an AuthMetadataProcessor know when a handler has ended. So there is nothing here that guards a
// whole service without a line in each handler: it would not be safe.
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

// The keys of a call's metadata, for callers in other languages: the name's bytes, and the term in
// decimal digits.
inline constexpr char kElectionMetadata[] = "tenure-election-bin";
inline constexpr char kTermMetadata[] = "tenure-term";

struct Fence {
  std::string election;
  uint64_t term = 0;
};

// --- The caller ---

// The call carries this fence. Once for each context.
void Attach(const Fence& fence, grpc::ClientContext& context);

// Attaches to each call of a channel the term that `term` returns when the call begins; for calls
// whose context has no fence. If that is 0, the call fails at once, is not sent, and its status is
// FAILED_PRECONDITION with NOT_LEADER. `term` may be called from any thread, must not wait and must
// not throw.
//
// What is sent was decided before it is sent, and a leader may have lost the seat and have got it
// back in between: then Elector::term() is one that the decision was not made in. Keep to the term
// of the decision, and let the elector say whether it still stands:
//
//   [&elector, term = seat.term()] { return elector.term() == term ? term : 0; }
[[nodiscard]] std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> FenceCalls(
    std::string election, std::function<uint64_t()> term);

// --- The called ---

// What a call carries. INVALID_ARGUMENT with INVALID_ELECTION_NAME or INVALID_TERM if that is not
// exactly one election and one term, which is not zero.
[[nodiscard]] tl::expected<Fence, grpc::Status> FenceOf(const grpc::ServerContextBase& context);

struct TermGuardOptions {
  // A term is never forgotten, so there is a bound: with so many elections, a further one is
  // refused (RESOURCE_EXHAUSTED).
  size_t elections_max = 10'000;
  // How long a call waits for those of a lower term that were let in before it, and never longer
  // than its own deadline; then UNAVAILABLE. Zero: not at all, which suits handlers that must not
  // wait, as those of the callback API.
  std::chrono::milliseconds wait_max{10'000};
  // Keeps the highest term with what is guarded, so that it outlives the process. Called before a
  // higher term than any before is let in, once for each: has to write it, if what is written there
  // is not higher, and to return what is written then. An error refuses the call, and changes
  // nothing; the next one tries again. One call at a time for an election; it may take its time,
  // and must not throw. Empty: after a restart the first call is believed, whatever its term is.
  std::function<tl::expected<uint64_t, grpc::Status>(const Fence&)> raise = {};
};

// The highest term of each election, and who is within. Thread-safe.
class TermGuard {
 public:
  class Entry;

  explicit TermGuard(TermGuardOptions options = {});
  ~TermGuard();
  TermGuard(const TermGuard&) = delete;
  TermGuard& operator=(const TermGuard&) = delete;

  // Lets in a call that carries a fence of `election`, the one that guards what the handler
  // touches. The entry is to be kept until the last effect. Errors:
  // - INVALID_ARGUMENT with INVALID_ELECTION_NAME, INVALID_TERM: no fence, or another election's.
  // - FAILED_PRECONDITION with STALE_TERM, metadata `current_term`: the caller leads no more.
  // - UNAVAILABLE, RESOURCE_EXHAUSTED, and those of `raise`: see the options.
  [[nodiscard]] Entry Enter(const grpc::ServerContextBase& context, const std::string& election);
  // The same, for who has the fence from elsewhere.
  [[nodiscard]] Entry Enter(const Fence& fence, std::chrono::system_clock::time_point deadline);

  // Enters, and leaves at once: for handlers whose effects compare the term again themselves,
  // within a transaction. By itself it does not keep the effects of two terms apart.
  [[nodiscard]] grpc::Status Check(const grpc::ServerContextBase& context,
                                   const std::string& election);

  // A term is known to have been granted: lower ones are refused from now on. Does not wait for
  // those that are within, and calls no `raise`.
  void Raise(const Fence& fence);
  // The highest term that was seen; 0 if none was.
  [[nodiscard]] uint64_t highest(const std::string& election) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

// Whether a call was let in. Leaves when it is destroyed, on whichever thread.
class TermGuard::Entry {
 public:
  Entry(Entry&&) noexcept = default;
  Entry& operator=(Entry&&) noexcept = default;

  [[nodiscard]] bool ok() const { return status_.ok(); }
  // To be returned from the handler, if it is not ok.
  [[nodiscard]] const grpc::Status& status() const { return status_; }

 private:
  friend class TermGuard;
  Entry(grpc::Status status, std::shared_ptr<void> within)
      : status_(std::move(status)), within_(std::move(within)) {}

  grpc::Status status_;
  std::shared_ptr<void> within_;  // leaves when it is let go of
};

}  // namespace tenure
