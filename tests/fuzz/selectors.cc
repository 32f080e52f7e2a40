// What an Observe stream selects, against a model that looks at each selector in turn. A line of
// the input is `=NAME`, `=NAME@7`,
// `^PREFIX` or `^PREFIX@7`; any other is the name of an election that is asked about.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/calls/selection.h"
#include "tests/fuzz/require.h"

namespace tenure::calls {
namespace {

struct Input {
  std::vector<Selector> selectors;
  std::set<std::string> asked;
};

Selector SelectorOf(std::string_view line) {
  const bool named = line.front() == '=';
  line.remove_prefix(1);
  const size_t at = line.rfind('@');
  const std::string text(line.substr(0, at));
  Selector selector;
  if (at != std::string_view::npos) {
    uint64_t revision = 0;
    std::from_chars(line.data() + at + 1, line.data() + line.size(), revision);
    selector.from = Revision{revision};
  }
  if (named) {
    selector.by = ElectionName{text};
  } else {
    selector.by = text;
  }
  return selector;
}

Input Read(std::string_view text) {
  Input input;
  while (!text.empty()) {
    const std::string_view line = TakeUntil(text, '\n');
    if (!line.starts_with('=') && !line.starts_with('^')) {
      input.asked.emplace(line);
      continue;
    }
    input.selectors.push_back(SelectorOf(line));
    const auto& by = input.selectors.back().by;
    const auto* name = std::get_if<ElectionName>(&by);
    const std::string& selected = name != nullptr ? name->bytes : std::get<std::string>(by);
    input.asked.insert({selected, selected + "/1"});
  }
  return input;
}

// The most specific selector of an election decides: its name, or else the longest prefix. Of two
// alike, the first does.
struct Model {
  const std::vector<Selector>& selectors;

  [[nodiscard]] const Selector* Named(const std::string& election) const {
    for (const Selector& selector : selectors) {
      const auto* name = std::get_if<ElectionName>(&selector.by);
      if (name != nullptr && name->bytes == election) return &selector;
    }
    return nullptr;
  }
  [[nodiscard]] const Selector* Longest(const std::string& election) const {
    const Selector* longest = nullptr;
    size_t length = 0;
    for (const Selector& selector : selectors) {
      const auto* prefix = std::get_if<std::string>(&selector.by);
      if (prefix == nullptr || !election.starts_with(*prefix)) continue;
      if (longest != nullptr && prefix->size() <= length) continue;
      longest = &selector;
      length = prefix->size();
    }
    return longest;
  }
};

bool WidestCovers(const Selection& selection, const std::string& election) {
  for (const std::string& prefix : selection.widest()) {
    if (election.starts_with(prefix)) return true;
  }
  return false;
}

void Check(const Input& input) {
  const Selection selection(input.selectors);
  const Model model{input.selectors};
  for (const std::string& election : input.asked) {
    const Selector* named = model.Named(election);
    const Selector* longest = model.Longest(election);
    const Selector* decides = named != nullptr ? named : longest;
    const auto start = selection.StartOf({election});
    Require(selection.names().contains({election}) == (named != nullptr), "names are kept");
    Require(selection.Covers({election}) == (longest != nullptr), "prefixes cover");
    Require(WidestCovers(selection, election) == (longest != nullptr), "the widest cover as much");
    Require(decides == nullptr ? !start : start == decides->from, "the most specific one decides");
  }
  for (const std::string& one : selection.widest()) {
    for (const std::string& other : selection.widest()) {
      Require(&one == &other || !one.starts_with(other), "no prefix begins with another");
    }
  }
  Require(selection.names().size() + selection.prefixes() <= input.selectors.size(), "no more");
}

}  // namespace
}  // namespace tenure::calls

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenure::calls::Check(tenure::calls::Read({reinterpret_cast<const char*>(data), size}));
  return 0;
}
