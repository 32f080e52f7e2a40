// The series of single elections: a bounded number of them.
//
// Elections get series in the order in which they are heard of, as long as there is room, and if
// their names begin as they should; those that are deleted give theirs up. What is shown of an
// election never goes back to an older revision. Thread-safe.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/types.h"

namespace tenure {

class ElectionSeries {
 public:
  // Names that begin with one of `prefixes`, or all if there is none. The families must outlive it.
  ElectionSeries(prometheus::Family<prometheus::Gauge>& terms,
                 prometheus::Family<prometheus::Gauge>& has_leader,
                 prometheus::Family<prometheus::Counter>& changes, size_t elections_max,
                 std::vector<std::string> prefixes);

  // A change, here or on another replica.
  void Heard(const Event& event);
  // An election as it was read.
  void Read(const Election& election);
  // There is no such election any more.
  void Forget(const ElectionName& name);
  // The database is not the one that it was.
  void ForgetAll();

  [[nodiscard]] std::vector<ElectionName> Listed() const;
  [[nodiscard]] bool HasRoom() const;
  [[nodiscard]] const std::vector<std::string>& prefixes() const { return prefixes_; }

 private:
  struct Series {
    prometheus::Gauge* term;
    prometheus::Gauge* has_leader;
    prometheus::Counter* changes;
    Revision revision;
  };

  // REQUIRES for all below: the lock.
  // Nothing if there is no room for it, or it is not wanted.
  Series* FindOrAdd(const ElectionName& name);
  void Remove(std::unordered_map<ElectionName, Series>::iterator listed);
  static void Show(Series& series, Revision revision, Term term, bool has_leader);

  prometheus::Family<prometheus::Gauge>& terms_;
  prometheus::Family<prometheus::Gauge>& has_leader_;
  prometheus::Family<prometheus::Counter>& changes_;
  const size_t elections_max_;
  const std::vector<std::string> prefixes_;
  mutable std::mutex mutex_;
  std::unordered_map<ElectionName, Series> listed_;  // guarded by mutex_
};

}  // namespace tenure
