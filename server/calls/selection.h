// The elections that an Observe stream selects. One that several selectors select is watched once,
// and starts where the most specific one says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/types.h"

namespace tenure::calls {

// Selects an election, or all whose names begin with a prefix. Begins at the revision or, without
// one, with a snapshot.
struct Selector {
  std::variant<ElectionName, std::string> by;
  std::optional<Revision> from;
};

class Selection {
 public:
  // If several selectors have the same name or prefix, the first counts.
  explicit Selection(const std::vector<Selector>& selectors);

  // The elections that are named, and where they start.
  [[nodiscard]] const std::map<ElectionName, std::optional<Revision>>& names() const {
    return names_;
  }
  // How many different prefixes there are.
  [[nodiscard]] size_t prefixes() const { return prefixes_.size(); }
  // The fewest prefixes that select all that any of them does: none begins with another.
  [[nodiscard]] const std::vector<std::string>& widest() const { return widest_; }
  // Whether a prefix selects the election.
  [[nodiscard]] bool Covers(const ElectionName& name) const { return Longest(name) != nullptr; }
  // Where an election that is selected starts.
  [[nodiscard]] std::optional<Revision> StartOf(const ElectionName& name) const;

 private:
  using Prefix = std::pair<std::string, std::optional<Revision>>;

  // The longest prefix that selects the election.
  [[nodiscard]] const Prefix* Longest(const ElectionName& name) const;

  std::map<ElectionName, std::optional<Revision>> names_;
  std::vector<Prefix> prefixes_;  // the longest first
  std::vector<std::string> widest_;
};

}  // namespace tenure::calls
