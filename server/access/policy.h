// The access policy: identities, how they authenticate, and what each may do in which elections.
// Unknown callers may do nothing. Pure; docs/permissions.md describes the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/types.h"

namespace tenure::access {

enum class Verb {
  kCampaign,    // Campaign, KeepAlive, Proclaim, Resign
  kObserve,     // Leader, Observe
  kInspect,     // what operators read
  kAdminister,  // what operators change
  // DescribeElection, which the last two each allow: operators read before they change. Policies do
  // not name it.
  kDescribe,
};
[[nodiscard]] std::string_view VerbName(Verb verb);

// Verbs in some elections: those named, and those whose names begin with one of the prefixes.
struct Rule {
  std::set<Verb> verbs;
  std::set<std::string, std::less<>> elections;
  std::vector<std::string> prefixes;
};

// Default limit on the elections that an identity creates: each row stays, so nobody is unlimited
// by accident.
inline constexpr uint64_t kElectionsDefault = 10'000;

// Default limit on an identity's open calls per replica: each takes about 17 kB.
inline constexpr uint64_t kOpenCallsDefault = 10'000;

struct IdentityLimits {
  std::optional<uint64_t> requests_per_second;  // per replica; nothing: no limit
  Quota quota;
  uint64_t open_calls = kOpenCallsDefault;  // per replica

  bool operator==(const IdentityLimits&) const = default;
};

struct Identity {
  std::string name;
  std::vector<Rule> rules;
  IdentityLimits limits;

  [[nodiscard]] bool May(Verb verb, std::string_view election) const;
  // In every election whose name begins with `prefix`.
  [[nodiscard]] bool MayInAll(Verb verb, std::string_view prefix) const;
  // In at least one election.
  [[nodiscard]] bool MaySomewhere(Verb verb) const;
};

// How a caller authenticates.
struct Credentials {
  std::optional<std::string> token = {};    // if set, only this counts
  std::vector<std::string> san = {};        // of the certificate: subject alternative names
  std::optional<std::string> subject = {};  // of the certificate, as RFC 2253 writes it
};

class Policy {
 public:
  // `text` is YAML; `read` reads a token file that it names. The error is one sentence for the
  // author of the policy.
  using ReadFile = std::function<tl::expected<std::string, std::string>(const std::string&)>;
  [[nodiscard]] static tl::expected<Policy, std::string> Parse(const std::string& text,
                                                               const ReadFile& read);

  // Serial numbers of certificates that may do nothing (tls/serial.h).
  [[nodiscard]] const std::set<std::string>& denied() const { return denied_; }
  // Null if they belong to no identity.
  [[nodiscard]] std::shared_ptr<const Identity> Find(const Credentials& credentials) const;
  [[nodiscard]] const std::vector<std::shared_ptr<const Identity>>& identities() const {
    return identities_;
  }

 private:
  std::vector<std::shared_ptr<const Identity>> identities_;
  // Values are indexes of identities_. Tokens are kept as their SHA-256.
  std::map<std::string, size_t, std::less<>> by_token_;
  std::map<std::string, size_t, std::less<>> by_san_;
  std::map<std::string, size_t, std::less<>> by_subject_;
  std::set<std::string> denied_;

  friend class PolicyReader;
};

}  // namespace tenure::access
