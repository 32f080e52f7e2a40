// The access policy. An accepted policy is within its limits, and only the identities that it names
// may do anything.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "server/access/policy.h"
#include "tests/fuzz/require.h"

namespace tenure::access {
namespace {

constexpr uint64_t kLimitMax = 999'999'999;
constexpr std::string_view kToken = "0123456789abcdef";
constexpr Verb kVerbs[] = {Verb::kCampaign, Verb::kObserve, Verb::kInspect, Verb::kAdminister};

tl::expected<std::string, std::string> ReadFile(const std::string& path) {
  if (path == "token") return std::string(kToken) + "\n";
  if (path == "tokens") return std::string(kToken) + "\r\n\nfedcba9876543210\n";
  if (path == "short") return "0123";
  return tl::unexpected("cannot read " + path);
}

void Check(const Rule& rule) {
  Require(!rule.verbs.empty(), "a rule has verbs");
  Require(!rule.elections.empty() || !rule.prefixes.empty(), "a rule has elections");
}

void Check(const IdentityLimits& limits) {
  for (const auto& limit : {limits.requests_per_second, limits.quota.sessions,
                            limits.quota.candidacies, limits.quota.elections}) {
    Require(limit.value_or(0) <= kLimitMax, "a limit is in its range");
  }
  Require(limits.quota.elections.has_value(), "elections are limited");
}

// The rules, taken word by word.
bool Expected(const Identity& identity, Verb verb, std::string_view election) {
  for (const Rule& rule : identity.rules) {
    if (!rule.verbs.contains(verb)) continue;
    if (rule.elections.contains(election)) return true;
    for (const std::string& prefix : rule.prefixes) {
      if (election.substr(0, prefix.size()) == prefix) return true;
    }
  }
  return false;
}

void Check(const Identity& identity) {
  Require(!identity.name.empty() && identity.name.size() <= 64, "a name has 1 to 64 bytes");
  for (const Rule& rule : identity.rules) Check(rule);
  Check(identity.limits);
  std::set<std::string> names{"", "orders", identity.name};
  for (const Rule& rule : identity.rules) {
    for (const std::string& name : rule.elections) names.insert({name, name + "/1"});
    for (const std::string& prefix : rule.prefixes) names.insert({prefix, prefix + "1"});
  }
  for (const Verb verb : kVerbs) {
    for (const std::string& name : names) {
      Require(identity.May(verb, name) == Expected(identity, verb, name),
              "rules mean what they say");
      Require(!identity.May(verb, name) || identity.MaySomewhere(verb), "here is somewhere");
      Require(!identity.MayInAll(verb, name) || identity.May(verb, name + "1"), "all is each");
    }
  }
}

void TryPolicy(const std::string& text) {
  const auto policy = Policy::Parse(text, ReadFile);
  if (!policy) return Require(policy.error().starts_with("line "), "an error says where");
  std::set<std::string> names;
  for (const auto& identity : policy->identities()) {
    Require(names.insert(identity->name).second, "names differ");
    Check(*identity);
  }
  Require(policy->Find({}) == nullptr, "a caller without credentials is nobody");
  Require(policy->Find({.token = "0123456789abcdeF"}) == nullptr, "a token must be known");
  Require(policy->Find({.token = ""}) == nullptr, "an empty token is none");
}

}  // namespace
}  // namespace tenure::access

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenure::access::TryPolicy({reinterpret_cast<const char*>(data), size});
  return 0;
}
