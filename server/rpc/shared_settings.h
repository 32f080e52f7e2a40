// Settings that all replicas on one database should share. Each replica acts by its own, but the
// effects are for all: the shortest history deletes for everybody.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace tenure::rpc {

// Values by flag, as people write them.
using SharedSettings = std::map<std::string, std::string>;

// How the settings of other replicas differ from this one's. Thread-safe.
class OtherSettings {
 public:
  explicit OtherSettings(SharedSettings own) : own_(std::move(own)) {}

  // Compares another replica's settings with this one's. Returns how they differ if that has
  // changed, "" if they no longer differ, and nothing if there is no news. Ignores settings that
  // only one of the two knows: they may be of different versions.
  [[nodiscard]] std::optional<std::string> Learn(const std::string& address,
                                                 const SharedSettings& settings);

 private:
  [[nodiscard]] std::string DifferencesFrom(const SharedSettings& settings) const;

  const SharedSettings own_;
  Mutex mutex_;
  // By address; only of replicas that differ.
  std::map<std::string, std::string> differences_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::rpc
