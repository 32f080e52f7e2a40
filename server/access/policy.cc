#include "server/access/policy.h"

#include <openssl/evp.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tls/serial.h"

namespace tenure::access {
namespace {

constexpr size_t kTokenBytesMin = 16;
constexpr size_t kIdentityBytesMax = 64;
constexpr std::array kVerbs = {Verb::kCampaign, Verb::kObserve, Verb::kInspect, Verb::kAdminister};

std::string Sha256(std::string_view text) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
             EVP_sha256(), nullptr);
  digest.resize(size);
  return digest;
}

std::string At(const YAML::Mark& mark, const std::string& what) {
  return "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1) +
         ": " + what;
}

// A mistake in a file, and its position.
struct Mistake : std::runtime_error {
  Mistake(const YAML::Mark& where, const std::string& what) : std::runtime_error(At(where, what)) {}
  Mistake(const YAML::Node& where, const std::string& what) : Mistake(where.Mark(), what) {}
};

// Finds the start of a second document, or of anything else behind the first. YAML::LoadAll would
// not return if the file ends in something that the parser takes for endless documents, such as a
// stray comma.
class SecondDocument final : public YAML::EventHandler {
 public:
  static std::optional<YAML::Mark> Find(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    SecondDocument second;
    for (int i = 0; i < 2 && parser.HandleNextDocument(second); ++i) {
    }
    return second.documents_ > 1 ? std::optional(second.mark_) : std::nullopt;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++documents_;
    mark_ = mark;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int documents_ = 0;
  YAML::Mark mark_;  // of the last document
};

// Checks that a map has only these keys, and none of them twice.
void RequireOnly(const YAML::Node& map, const std::string& what,
                 const std::set<std::string>& known) {
  if (!map.IsMap()) throw Mistake(map, what + " must be a map");
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const auto key = entry.first.as<std::string>();
    if (!known.contains(key))
      throw Mistake(entry.first, what + " has an unknown key '" + key + "'");
    if (!seen.insert(key).second)
      throw Mistake(entry.first, what + " has the key '" + key + "' twice");
  }
}

std::vector<YAML::Node> ListOf(const YAML::Node& map, const std::string& key) {
  const YAML::Node list = map[key];
  if (!list) return {};
  if (!list.IsSequence()) throw Mistake(list, "'" + key + "' must be a list");
  return {list.begin(), list.end()};
}

std::string TextOf(const YAML::Node& node, const std::string& what) {
  if (!node.IsScalar()) throw Mistake(node, what + " must be a string");
  return node.as<std::string>();
}

std::vector<std::string> TextsOf(const YAML::Node& map, const std::string& key) {
  std::vector<std::string> texts;
  for (const YAML::Node& node : ListOf(map, key)) {
    texts.push_back(TextOf(node, "an entry of '" + key + "'"));
  }
  return texts;
}

Verb VerbOf(const YAML::Node& node) {
  const std::string name = TextOf(node, "a verb");
  const auto verb = std::ranges::find(kVerbs, name, VerbName);
  if (verb != kVerbs.end()) return *verb;
  throw Mistake(node, "'" + name + "' is not a verb; use campaign, observe, inspect or administer");
}

Rule RuleOf(const YAML::Node& node) {
  RequireOnly(node, "a rule", {"verbs", "elections", "prefixes"});
  Rule rule;
  for (const YAML::Node& verb : ListOf(node, "verbs")) rule.verbs.insert(VerbOf(verb));
  if (rule.verbs.contains(Verb::kInspect) || rule.verbs.contains(Verb::kAdminister))
    rule.verbs.insert(Verb::kDescribe);
  for (const std::string& name : TextsOf(node, "elections")) rule.elections.insert(name);
  rule.prefixes = TextsOf(node, "prefixes");
  if (rule.verbs.empty()) throw Mistake(node, "a rule needs 'verbs'");
  if (rule.elections.empty() && rule.prefixes.empty()) {
    throw Mistake(node,
                  "a rule needs 'elections' or 'prefixes'; the prefix \"\" matches all elections");
  }
  return rule;
}

std::optional<uint64_t> LimitOf(const YAML::Node& limits, const std::string& key) {
  const YAML::Node node = limits[key];
  if (!node) return std::nullopt;
  uint64_t number = 0;
  const std::string text = node.IsScalar() ? node.Scalar() : "";
  const bool digits = !text.empty() && text.size() <= 9 && std::ranges::all_of(text, ::isdigit);
  if (!digits) throw Mistake(node, "'" + key + "' must be a whole number from 0 to 999999999");
  number = std::stoull(text);
  return number;
}

IdentityLimits LimitsOf(const YAML::Node& node) {
  if (!node) return {{}, {.elections = kElectionsDefault}};
  RequireOnly(node, "'limits'",
              {"requests_per_second", "sessions", "candidacies", "elections", "open_calls"});
  return {LimitOf(node, "requests_per_second"),
          {LimitOf(node, "sessions"), LimitOf(node, "candidacies"),
           LimitOf(node, "elections").value_or(kElectionsDefault)},
          LimitOf(node, "open_calls").value_or(kOpenCallsDefault)};
}

}  // namespace

std::string_view VerbName(Verb verb) {
  switch (verb) {
    case Verb::kCampaign: return "campaign";
    case Verb::kObserve: return "observe";
    case Verb::kInspect: return "inspect";
    case Verb::kAdminister: return "administer";
    case Verb::kDescribe: return "inspect";
  }
  return "";
}

bool Identity::May(Verb verb, std::string_view election) const {
  return std::ranges::any_of(rules, [&](const Rule& rule) {
    if (!rule.verbs.contains(verb)) return false;
    return rule.elections.contains(election) ||
           std::ranges::any_of(rule.prefixes, [&](const std::string& prefix) {
             return election.starts_with(prefix);
           });
  });
}

bool Identity::MayInAll(Verb verb, std::string_view prefix) const {
  return std::ranges::any_of(rules, [&](const Rule& rule) {
    return rule.verbs.contains(verb) &&
           std::ranges::any_of(rule.prefixes, [&](const std::string& allowed) {
             return prefix.starts_with(allowed);
           });
  });
}

bool Identity::MaySomewhere(Verb verb) const {
  return std::ranges::any_of(rules, [&](const Rule& rule) { return rule.verbs.contains(verb); });
}

// Reads one file. Throws Mistake.
class PolicyReader {
 public:
  explicit PolicyReader(const Policy::ReadFile& read) : read_(read) {}

  Policy Read(const std::string& text) {
    if (const auto second = SecondDocument::Find(text)) {
      throw Mistake(
          *second, "the policy ends here, and the file has a second document or a stray character");
    }
    const YAML::Node root = YAML::Load(text);
    RequireOnly(root, "the policy", {"identities", "deny"});
    for (const YAML::Node& node : ListOf(root, "identities")) ReadIdentity(node);
    for (const YAML::Node& node : ListOf(root, "deny")) ReadDenied(node);
    return std::move(policy_);
  }

 private:
  void ReadIdentity(const YAML::Node& node) {
    RequireOnly(node, "an identity",
                {"name", "token_files", "sans", "subjects", "rules", "limits"});
    if (!node["name"]) throw Mistake(node, "an identity needs a 'name'");
    Identity identity;
    identity.name = TextOf(node["name"], "the 'name' of an identity");
    if (identity.name.empty() || identity.name.size() > kIdentityBytesMax) {
      throw Mistake(node, "the name of an identity must have 1 to 64 bytes");
    }
    if (!names_.insert(identity.name).second) {
      throw Mistake(node, "identity '" + identity.name + "' is defined twice");
    }
    for (const YAML::Node& rule : ListOf(node, "rules")) identity.rules.push_back(RuleOf(rule));
    identity.limits = LimitsOf(node["limits"]);
    for (const std::string& file : TextsOf(node, "token_files")) ReadTokens(node, file);
    for (const std::string& san : TextsOf(node, "sans")) Know(policy_.by_san_, san, node, san);
    for (const std::string& subject : TextsOf(node, "subjects")) {
      Know(policy_.by_subject_, subject, node, subject);
    }
    // The file was probably cut short: an identity without any of these is useless.
    if (!node["token_files"] && !node["sans"] && !node["subjects"]) {
      throw Mistake(node,
                    "identity '" + identity.name + "' needs 'token_files', 'sans' or 'subjects'");
    }
    policy_.identities_.push_back(std::make_shared<const Identity>(std::move(identity)));
  }

  void ReadDenied(const YAML::Node& node) {
    const std::string text = TextOf(node, "an entry of 'deny'");
    const auto serial = tls::NormalSerial(text);
    if (!serial) {
      throw Mistake(node, "'" + text +
                              "' is not the serial number of a certificate; it must be 1 to 40 "
                              "hexadecimal digits, with colons or without");
    }
    policy_.denied_.insert(*serial);
  }

  // One token per line: the old and the new one during a rotation.
  void ReadTokens(const YAML::Node& node, const std::string& file) {
    const auto text = read_(file);
    if (!text) throw Mistake(node, text.error());
    std::istringstream lines(*text);
    for (std::string token; std::getline(lines, token);) {
      while (!token.empty() && ::isspace(static_cast<unsigned char>(token.back()))) {
        token.pop_back();
      }
      if (token.empty()) continue;
      if (token.size() < kTokenBytesMin) {
        throw Mistake(node, "a token in " + file + " is too short; it must have at least 16 bytes");
      }
      Know(policy_.by_token_, Sha256(token), node, "a token in " + file);
    }
  }

  void Know(std::map<std::string, size_t, std::less<>>& known, const std::string& key,
            const YAML::Node& node, const std::string& shown) {
    const size_t index = policy_.identities_.size();
    const auto [entry, added] = known.emplace(key, index);
    if (!added && entry->second != index) {
      throw Mistake(node, shown + " already belongs to identity '" +
                              policy_.identities_[entry->second]->name + "'");
    }
  }

  const Policy::ReadFile& read_;
  Policy policy_;
  std::set<std::string> names_;
};

tl::expected<Policy, std::string> Policy::Parse(const std::string& text, const ReadFile& read) {
  try {
    return PolicyReader(read).Read(text);
  } catch (const Mistake& mistake) {
    return tl::unexpected(std::string(mistake.what()));
  } catch (const YAML::Exception& error) {
    return tl::unexpected(At(error.mark, error.msg));
  }
}

std::shared_ptr<const Identity> Policy::Find(const Credentials& credentials) const {
  if (credentials.token) {
    const auto known = by_token_.find(Sha256(*credentials.token));
    return known == by_token_.end() ? nullptr : identities_[known->second];
  }
  for (const std::string& name : credentials.san) {
    const auto known = by_san_.find(name);
    if (known != by_san_.end()) return identities_[known->second];
  }
  if (!credentials.subject) return nullptr;
  const auto known = by_subject_.find(*credentials.subject);
  return known == by_subject_.end() ? nullptr : identities_[known->second];
}

}  // namespace tenure::access
