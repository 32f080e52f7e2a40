// One process's stand in one election, kept up by a thread of its own: it campaigns, renews, and
// campaigns again after a loss. It knows until when the process may believe that it leads.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "client/cpp/io/connection.h"
#include "client/cpp/machine/call_error.h"
#include "core/lease.h"

namespace tenure::testing {

class Seat {
 public:
  Seat(const std::string& endpoints, std::string election, std::string candidate,
       Duration lease_ttl);
  ~Seat();  // ends the session
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // The term in which this process leads, as far as it can know at this moment.
  [[nodiscard]] std::optional<Term> BelievedTerm() const;
  // Reports that the term has ended.
  void Over(Term term);

 private:
  void Run();
  // One Campaign call. The term, if it was elected.
  std::optional<Term> Stand();
  // Renews until the term or the stream ends.
  void Hold(Term term);
  void Believe(Term term, Lease::Time renewal_sent_at, Duration lease_ttl);
  void Leave();

  const std::string election_;
  const std::string candidate_;
  const Duration lease_ttl_;
  Connection connection_;   // of the thread
  std::string session_id_;  // of the thread

  mutable std::mutex mutex_;
  Term term_;      // guarded by mutex_; the latest that a renewal has confirmed
  Lease lease_;    // guarded by mutex_; of that term
  Term finished_;  // guarded by mutex_; the latest that is known to have ended

  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace tenure::testing
