// Which terms this process has given up, by election. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>

namespace tenure {

// Maximum number of elections whose closed terms are kept. They refute late news, which comes
// within moments or never.
inline constexpr size_t kClosedTermsMax = 10'000;

// Keeps the elections raised most recently. Not thread-safe.
class ClosedTerms {
 public:
  // Terms up to this one are closed; 0: none that we know of.
  [[nodiscard]] uint64_t Of(const std::string& election) const {
    const auto found = by_election_.find(election);
    return found == by_election_.end() ? 0 : found->second->second;
  }
  void Raise(const std::string& election, uint64_t term) {
    if (const auto found = by_election_.find(election); found != by_election_.end()) {
      term = std::max(term, found->second->second);
      oldest_.erase(found->second);
    }
    oldest_.emplace_back(election, term);
    by_election_[election] = std::prev(oldest_.end());
    if (oldest_.size() <= kClosedTermsMax) return;
    by_election_.erase(oldest_.front().first);
    oldest_.pop_front();
  }
  void Clear() {
    by_election_.clear();
    oldest_.clear();
  }

 private:
  using Closed = std::list<std::pair<std::string, uint64_t>>;
  Closed oldest_;  // the latest is last
  std::map<std::string, Closed::iterator> by_election_;
};

}  // namespace tenure
