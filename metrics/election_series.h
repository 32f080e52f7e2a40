// The series of single elections, up to a maximum number.
//
// Elections get series in the order in which they become known, as long as there is room, and if
// their names have one of the prefixes. Deleted elections give theirs up. The series of an election
// never go back to an older revision. Thread-safe.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "core/types.h"

namespace tenure {

class ElectionSeries {
 public:
  // Lists names with one of `prefixes`, or all names if there is none. The families must outlive
  // it.
  ElectionSeries(prometheus::Family<prometheus::Gauge>& terms,
                 prometheus::Family<prometheus::Gauge>& has_leader,
                 prometheus::Family<prometheus::Gauge>& leader_info,
                 prometheus::Family<prometheus::Counter>& changes, size_t elections_max,
                 std::vector<std::string> prefixes);

  // A change, here or on another replica.
  void Heard(const Event& event);
  // An election as it was read.
  void Read(const Election& election);
  // The election no longer exists.
  void Forget(const ElectionName& name);
  // The database was replaced or restored.
  void ForgetAll();

  [[nodiscard]] std::vector<ElectionName> Listed() const;
  [[nodiscard]] bool HasRoom() const;
  [[nodiscard]] const std::vector<std::string>& prefixes() const { return prefixes_; }

 private:
  struct Series {
    prometheus::Gauge* term;
    prometheus::Gauge* has_leader;
    prometheus::Gauge* leader_info = nullptr;  // labelled with the leader's name; null: no leader
    std::string leader = {};
    prometheus::Counter* changes;
    Revision revision = {};
  };

  // Null if there is no room for it, or its name has none of the prefixes.
  Series* FindOrAdd(const ElectionName& name) TENURE_REQUIRES(mutex_);
  void Remove(std::unordered_map<ElectionName, Series>::iterator listed) TENURE_REQUIRES(mutex_);
  // `leader` is a candidate's name; empty: there is none.
  void Show(const ElectionName& name, Series& series, Revision revision, Term term,
            const std::string& leader) TENURE_REQUIRES(mutex_);

  prometheus::Family<prometheus::Gauge>& terms_;
  prometheus::Family<prometheus::Gauge>& has_leader_;
  prometheus::Family<prometheus::Gauge>& leader_info_;
  prometheus::Family<prometheus::Counter>& changes_;
  const size_t elections_max_;
  const std::vector<std::string> prefixes_;
  mutable Mutex mutex_;
  std::unordered_map<ElectionName, Series> listed_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
