// Tokens of pages, as a caller may make them up: the numbers that they are read as, and the pages
// that SQLite finds for them, against a model that looks at everything. Lines of the input: the
// page's size, a prefix of elections, and the token.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/law/law.h"
#include "server/rpc/admin_requests.h"
#include "storage/sqlite/open.h"
#include "tests/fuzz/require.h"

namespace tenure {
namespace {

constexpr DbTime kNow{std::chrono::hours(1)};
constexpr uint64_t kNumberMax = std::numeric_limits<int64_t>::max();
const std::set<std::string> kNames{
    "a",      "a ",      "a/b", "a/b/c",         "ab",        "b", "ba",
    "orders", "orders/", "Ä",   "\u00ff/\u0100", "\U0010ffff"};

// Holds these elections, and one change of an operator in each.
std::unique_ptr<Store> Filled() {
  auto store = sqlite::OpenSqliteStore(":memory:", [] { return kNow; }).value();
  Require(store->Migrate().has_value(), "SQLite works");
  for (const std::string& name : kNames) {
    Configure configure;
    configure.election = {name};
    configure.create = true;
    const Command command = configure;
    const auto committed =
        store->Transact(LockSetOf({&command}), {}, [&](TransactionState& transaction) {
          Require(Apply(transaction, {}, command).has_value(), "an election is made");
        });
    Require(committed.has_value(), "an election is saved");
  }
  return store;
}

// Begins with this token, and goes on with those of the pages.
void WalkElections(Store& store, std::string_view prefix, std::string token, size_t size) {
  std::vector<std::string> expected;
  std::ranges::copy_if(kNames, std::back_inserter(expected), [&](const std::string& name) {
    return name.starts_with(prefix) && name > token;
  });
  std::vector<std::string> found;
  for (size_t left = kNames.size() + 1; left > 0; --left) {
    const auto page = store.ListElections(prefix, token, size);
    Require(page.has_value(), "any token can be looked for");
    Require(page->size() <= size, "a page is not longer than it may be");
    if (page->empty()) break;
    for (const ElectionView& view : *page) found.push_back(view.election.name.bytes);
    token = found.back();
  }
  Require(found == expected, "pages hold each election once, in order");
}

void CheckNumber(Store& store, uint64_t number, size_t size) {
  Require(number <= kNumberMax, "every database can compare with it");
  const auto again = rpc::ParsePageNumber(std::to_string(number), 0);
  Require(again.has_value() && *again == number, "a number that was written is read");

  const auto changes = store.ReadAdminChanges(std::nullopt, number, size);
  Require(changes.has_value(), "any number can be looked for");
  uint64_t before = std::min<uint64_t>(number, kNames.size() + 1);
  Require(changes->size() == std::min<uint64_t>(before > 0 ? before - 1 : 0, size),
          "all before it");
  for (const AdminRecord& record : *changes) {
    Require(record.number == --before, "the latest first");
  }
  const auto queue = store.ReadQueue({"a"}, number, size);
  Require(queue.has_value() && queue->empty(), "an empty queue has no part");
  const auto terms = store.ReadTerms({"a"}, Term{number}, size);
  Require(terms.has_value() && terms->empty(), "nobody has led");
}

void TryToken(Store& store, std::string_view input) {
  const std::string_view first = TakeUntil(input, '\n');
  const std::string_view prefix = TakeUntil(input, '\n');
  const std::string token(input);
  int32_t asked = 0;
  std::from_chars(first.data(), first.data() + first.size(), asked);

  const auto size = rpc::ParsePageSize(asked);
  Require(size.has_value() == (asked >= 0), "a size is not negative");
  if (!size) return;
  Require(*size > 0 && *size <= 1000, "a page is bounded");
  WalkElections(store, prefix, token, *size);
  const auto number = rpc::ParsePageNumber(token, 7);
  Require(number.has_value() || !token.empty(), "no token is the first page");
  if (number) CheckNumber(store, *number, *size);
}

}  // namespace
}  // namespace tenure

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto store = tenure::Filled();
  tenure::TryToken(*store, {reinterpret_cast<const char*>(data), size});
  return 0;
}
