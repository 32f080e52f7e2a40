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

  // Makes a constant number of bounded reads, apart from the statistics themselves. A metric that
  // cannot be read keeps its value.
  void Take();
  // The latest counts; nothing before the first time. Thread-safe.
  [[nodiscard]] std::optional<Statistics> latest() const;

 private:
  // Corrects the listed elections, in case one was deleted.
  void ReadListed();
  // Looks for more elections to list, while there is room: in the next part of one prefix.
  void ReadMore();

  OperatorStore& store_;
  Metrics& metrics_;
  size_t prefix_ = 0;  // where the last part ended
  std::string after_;
  mutable Mutex mutex_;
  std::optional<Statistics> latest_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::engine
