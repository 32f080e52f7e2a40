#include "server/calls/selection.h"

#include <algorithm>

namespace tenure::calls {

Selection::Selection(const std::vector<Selector>& selectors) {
  std::map<std::string, std::optional<Revision>> prefixes;
  for (const Selector& selector : selectors) {
    if (const auto* name = std::get_if<ElectionName>(&selector.by)) {
      names_.emplace(*name, selector.from);
    } else {
      prefixes.emplace(std::get<std::string>(selector.by), selector.from);
    }
  }
  for (const auto& [prefix, from] : prefixes) {  // each comes before those that begin with it
    if (widest_.empty() || !prefix.starts_with(widest_.back())) widest_.push_back(prefix);
  }
  prefixes_.assign(prefixes.begin(), prefixes.end());
  std::ranges::stable_sort(prefixes_, std::ranges::greater(),
                           [](const Prefix& it) { return it.first.size(); });
}

std::optional<Revision> Selection::StartOf(const ElectionName& name) const {
  if (const auto named = names_.find(name); named != names_.end()) return named->second;
  const Prefix* prefix = Longest(name);
  return prefix == nullptr ? std::nullopt : prefix->second;
}

const Selection::Prefix* Selection::Longest(const ElectionName& name) const {
  const auto found = std::ranges::find_if(
      prefixes_, [&](const Prefix& it) { return name.bytes.starts_with(it.first); });
  return found == prefixes_.end() ? nullptr : &*found;
}

}  // namespace tenure::calls
