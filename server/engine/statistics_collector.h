// Updates the metrics of the store's contents: the counts, and the series of single elections,
// which events keep up to date in between. Take is for one thread at a time.
#pragma once

#include <optional>
#include <string>

#include "base/mutex.h"
#include "metrics/metrics.h"
#include "storage/operator_store.h"

namespace tenure::engine {

class StatisticsCollector {
 public:
  StatisticsCollector(OperatorStore& store, Metrics& metrics) : store_(store), metrics_(metrics) {}

  // A constant number of reads, each of a bounded part of what there is, except for the statistics
  // themselves. A metric that cannot be read keeps its value.
  void Take();
  // As they were counted last; nothing before the first time. Thread-safe.
  [[nodiscard]] std::optional<Statistics> latest() const;

 private:
  // Corrects the elections that are listed, should one have been deleted.
  void ReadListed();
  // Looks for more to list, as long as there is room: in the next part of those of one prefix.
  void ReadMore();

  OperatorStore& store_;
  Metrics& metrics_;
  size_t prefix_ = 0;  // where the last part ended
  std::string after_;
  mutable Mutex mutex_;
  std::optional<Statistics> latest_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
