#include "server/access/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::access {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kTwoTeams[] = R"(
identities:
  - name: orders
    sans: ["spiffe://prod/orders", orders.prod.svc]
    token_files: [orders.token]
    rules:
      - {verbs: [campaign, observe], prefixes: ["orders/"], elections: [billing]}
      - {verbs: [observe], prefixes: [""]}
    limits: {requests_per_second: 50, sessions: 0, elections: 7}
  - name: operators
    subjects: ["CN=admin,O=Example"]
    rules:
      - {verbs: [inspect, administer], prefixes: [""]}
)";

tl::expected<std::string, std::string> ReadTokens(const std::string& path) {
  if (path == "orders.token") return "the-old-token-of-orders\r\n\nthe-new-token-of-orders\n";
  if (path == "15.token") return "123456789012345\n";
  if (path == "16.token") return "1234567890123456\n";
  if (path == "short.token") return "too-short\n";
  return tl::unexpected("cannot read " + path);
}

tl::expected<Policy, std::string> Parsed(const std::string& text) {
  return Policy::Parse(text, ReadTokens);
}

class PolicyTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string NameBy(const Credentials& credentials) const {
    const auto identity = policy_.Find(credentials);
    return identity == nullptr ? "" : identity->name;
  }
  [[nodiscard]] const Identity& orders() const { return *policy_.identities()[0]; }
  [[nodiscard]] const Identity& operators() const { return *policy_.identities()[1]; }

  const Policy policy_ = Parsed(kTwoTeams).value();
};

// --- Authentication ---

TEST_F(PolicyTest, ACallerIsKnownByAnyNameInItsCertificate) {
  EXPECT_EQ(NameBy({.san = {"other.svc", "orders.prod.svc"}}), "orders");
  EXPECT_EQ(NameBy({.subject = "CN=admin,O=Example"}), "operators");
}

TEST_F(PolicyTest, ACallerIsKnownByEachOfItsTokens) {
  EXPECT_EQ(NameBy({.token = "the-old-token-of-orders"}), "orders");
  EXPECT_EQ(NameBy({.token = "the-new-token-of-orders"}), "orders");
}

TEST_F(PolicyTest, NobodyElseIsKnown) {
  EXPECT_EQ(NameBy({}), "");
  EXPECT_EQ(NameBy({.san = {"orders.prod.svc.evil"}, .subject = "CN=admin"}), "");
  EXPECT_EQ(NameBy({.san = {"CN=admin,O=Example"}, .subject = "orders.prod.svc"}), "");
  EXPECT_EQ(NameBy({.token = ""}), "");
  EXPECT_EQ(NameBy({.token = "the-old-token-of-order"}), "");
}

TEST_F(PolicyTest, ATokenTakesPrecedenceOverACertificate) {
  EXPECT_EQ(NameBy({.token = "wrong", .san = {"orders.prod.svc"}}), "");
  EXPECT_EQ(NameBy({.token = "the-new-token-of-orders", .subject = "CN=admin,O=Example"}),
            "orders");
}

// --- Authorisation ---

TEST_F(PolicyTest, ARuleAppliesToItsElectionsAndPrefixesOnly) {
  EXPECT_TRUE(orders().May(Verb::kCampaign, "orders/eu"));
  EXPECT_TRUE(orders().May(Verb::kCampaign, "billing"));
  EXPECT_FALSE(orders().May(Verb::kCampaign, "billing/eu"));
  EXPECT_FALSE(orders().May(Verb::kCampaign, "orders"));
  EXPECT_FALSE(orders().May(Verb::kCampaign, "Orders/eu"));
  EXPECT_FALSE(operators().May(Verb::kCampaign, "billing"));
}

// As the database compares them.
TEST_F(PolicyTest, NamesAreComparedAsBytes) {
  EXPECT_FALSE(orders().May(Verb::kCampaign, "Billing"));
  EXPECT_FALSE(orders().May(Verb::kCampaign, "BILLING"));
  EXPECT_FALSE(orders().May(Verb::kCampaign, "billing "));
  EXPECT_FALSE(orders().May(Verb::kCampaign, std::string_view("billing\0", 8)));
  EXPECT_FALSE(orders().May(Verb::kCampaign, "ORDERS/eu"));
  EXPECT_FALSE(orders().MayInAll(Verb::kCampaign, "Orders/eu"));
  EXPECT_EQ(NameBy({.san = {"Orders.prod.svc"}}), "");
  EXPECT_EQ(NameBy({.san = {"SPIFFE://prod/orders"}}), "");
  EXPECT_EQ(NameBy({.san = {"orders.prod.svc."}}), "");
  EXPECT_EQ(NameBy({.san = {std::string("orders.prod.svc\0", 16)}}), "");
  EXPECT_EQ(NameBy({.subject = "cn=admin,o=example"}), "");
  EXPECT_EQ(NameBy({.token = "The-Old-Token-Of-Orders"}), "");
}

TEST_F(PolicyTest, AVerbDoesNotIncludeAnother) {
  EXPECT_TRUE(orders().May(Verb::kObserve, "anything"));
  EXPECT_FALSE(orders().May(Verb::kInspect, "orders/eu"));
  EXPECT_FALSE(orders().May(Verb::kAdminister, "orders/eu"));
  EXPECT_TRUE(operators().May(Verb::kAdminister, "orders/eu"));
  EXPECT_FALSE(operators().May(Verb::kObserve, "orders/eu"));
}

TEST_F(PolicyTest, APrefixIsAllowedIfAllItsElectionsAre) {
  EXPECT_TRUE(orders().MayInAll(Verb::kCampaign, "orders/"));
  EXPECT_TRUE(orders().MayInAll(Verb::kCampaign, "orders/eu"));
  EXPECT_FALSE(orders().MayInAll(Verb::kCampaign, "orders"));
  EXPECT_FALSE(orders().MayInAll(Verb::kCampaign, "billing"));
  EXPECT_FALSE(orders().MayInAll(Verb::kCampaign, ""));
  EXPECT_TRUE(operators().MayInAll(Verb::kInspect, ""));
}

TEST_F(PolicyTest, ACallWithoutAnElectionNeedsTheVerbInSomeRule) {
  EXPECT_TRUE(orders().MaySomewhere(Verb::kCampaign));
  EXPECT_FALSE(operators().MaySomewhere(Verb::kCampaign));
}

TEST_F(PolicyTest, ALimitOfZeroIsNotTheSameAsNoLimit) {
  EXPECT_EQ(orders().limits, (IdentityLimits{50, {0, {}, 7}}));
}

TEST_F(PolicyTest, DefaultsLimitElectionsOnly) {
  const IdentityLimits only_elections{{}, {.elections = kElectionsDefault}};
  const auto empty = Parsed("identities: [{name: a, sans: [s], limits: {}}]");

  EXPECT_EQ(operators().limits, only_elections);
  EXPECT_EQ(empty->identities()[0]->limits, only_elections);
}

TEST(EmptyPolicyTest, AnEmptyPolicyKnowsNobody) {
  EXPECT_THAT(Parsed("identities: []").value().identities(), SizeIs(0));
  EXPECT_THAT(Parsed("---\nidentities: []\n...\n").value().identities(), SizeIs(0));
}

TEST(PolicyLimitsTest, TheLargestAndSmallestValuesAreAllowed) {
  const auto policy = Parsed("identities: [{name: " + std::string(64, 'n') +
                             ", token_files: [16.token], limits: {sessions: 999999999}}]");

  ASSERT_TRUE(policy) << policy.error();
  EXPECT_EQ(policy->identities()[0]->limits.quota.sessions, 999'999'999u);
  EXPECT_NE(policy->Find({.token = "1234567890123456"}), nullptr);
}

TEST(PolicyDenyTest, SerialNumbersAreDeniedInAnyNotation) {
  const auto policy = Parsed("identities: []\ndeny: ['00:AB:12', ab12, 7F, 12]");

  ASSERT_TRUE(policy) << policy.error();
  EXPECT_THAT(policy->denied(), ::testing::ElementsAre("12", "7F", "AB12"));
}

// --- Bad policies ---

struct BadPolicy {
  std::string text;
  std::string complaint;
};

class BadPolicyTest : public ::testing::TestWithParam<BadPolicy> {};

TEST_P(BadPolicyTest, ABadPolicyIsRefusedWithThePositionOfTheMistake) {
  const auto policy = Parsed(GetParam().text);

  ASSERT_FALSE(policy.has_value());
  EXPECT_THAT(policy.error(), HasSubstr(GetParam().complaint));
}

// A reader of the file could take either of two such entries for the one that counts.
INSTANTIATE_TEST_SUITE_P(
    Ambiguous, BadPolicyTest,
    ::testing::Values(
        BadPolicy{"identities: []\nidentities: []",
                  "line 2, column 1: the policy has the key 'identities' twice"},
        BadPolicy{"identities:\n- name: a\n  rules: []\n  rules: []",
                  "line 4, column 3: an identity has the key 'rules' twice"},
        BadPolicy{"identities:\n- name: a\n  'rules': []\n  rules: []",
                  "line 4, column 3: an identity has the key 'rules' twice"},
        BadPolicy{"identities:\n- name: a\n  rules:\n  - {verbs: [observe], verbs: [campaign]}",
                  "line 4, column 24: a rule has the key 'verbs' twice"},
        BadPolicy{"identities:\n- name: a\n  limits: {sessions: 1, sessions: 2}",
                  "line 3, column 25: 'limits' has the key 'sessions' twice"},
        BadPolicy{"identities: []\n---\nidentities: []",
                  "line 2, column 1: the policy ends here, and the file has a second document"},
        BadPolicy{"identities: []\n---\n", "the file has a second document"},
        BadPolicy{"identities: []\n,", "line 2, column 1: "},
        BadPolicy{", identities: []", "a second document or a stray character"}));

INSTANTIATE_TEST_SUITE_P(
    Policies, BadPolicyTest,
    ::testing::Values(
        BadPolicy{"", "the policy must be a map"}, BadPolicy{"identities: [", "line 1, column "},
        BadPolicy{"identities: {}", "line 1, column 13: 'identities' must be a list"},
        BadPolicy{"idendities: []", "line 1, column 1: the policy has an unknown key 'idendities'"},
        BadPolicy{"identities:\n- rules: []", "line 2, column 3: an identity needs a 'name'"},
        BadPolicy{"identities:\n- name: ''", "1 to 64 bytes"},
        BadPolicy{"identities:\n- name: a\n  sans: [s]\n- name: a",
                  "line 4, column 3: identity 'a' is defined twice"},
        BadPolicy{"identities:\n- name: orders",
                  "line 2, column 3: identity 'orders' needs 'token_files', 'sans' or 'subjects'"},
        BadPolicy{"identities:\n- name: a\n  role: x",
                  "line 3, column 3: an identity has an unknown key 'role'"},
        BadPolicy{"identities:\n- name: a\n  rules: [{prefixes: ['']}]", "a rule needs 'verbs'"},
        BadPolicy{"identities:\n- name: a\n  rules: [{verbs: [observe]}]",
                  "a rule needs 'elections' or 'prefixes'"},
        BadPolicy{"identities:\n- name: a\n  rules: [{verbs: [lead], prefixes: ['']}]",
                  "'lead' is not a verb; use campaign, observe, inspect or administer"},
        BadPolicy{"identities:\n- name: a\n  rules: [{verbs: [Observe], prefixes: ['']}]",
                  "'Observe' is not a verb"},
        BadPolicy{"Identities: []", "unknown key 'Identities'"},
        BadPolicy{"identities:\n- name: " + std::string(65, 'n'), "1 to 64 bytes"},
        BadPolicy{"deny: AB12", "line 1, column 7: 'deny' must be a list"},
        BadPolicy{"deny: [0x12]", "line 1, column 8: '0x12' is not the serial number"},
        BadPolicy{"deny: ['']", "'' is not the serial number of a certificate"},
        BadPolicy{"deny: [{serial: 12}]", "an entry of 'deny' must be a string"},
        BadPolicy{"deny: [" + std::string(41, 'A') + "]", "it must be 1 to 40 hexadecimal digits"},
        BadPolicy{"identities:\n- name: a\n  limits: {sessions: 1000000000}",
                  "'sessions' must be a whole number from 0 to 999999999"},
        BadPolicy{"identities:\n- name: a\n  token_files: [15.token]", "it must have at least 16"},
        BadPolicy{"identities:\n- name: a\n  limits: {sessions: -1}",
                  "'sessions' must be a whole number from 0 to 999999999"},
        BadPolicy{"identities:\n- name: a\n  limits: {elections: none}",
                  "'elections' must be a whole number from 0 to 999999999"},
        BadPolicy{"identities:\n- name: a\n  limits: {sessions: many}",
                  "'sessions' must be a whole number from 0 to 999999999"},
        BadPolicy{"identities:\n- name: a\n  sans: [s]\n- name: b\n  sans: [s]",
                  "s already belongs to identity 'a'"},
        BadPolicy{"identities:\n- name: a\n  token_files: [nowhere]", "cannot read nowhere"},
        BadPolicy{"identities:\n- name: a\n  token_files: [short.token]",
                  "a token in short.token is too short; it must have at least 16 bytes"}));

TEST(TokenTest, ATokenIsNeverShown) {
  const auto policy = Parsed(
      "identities:\n- {name: a, token_files: [orders.token]}\n"
      "- {name: b, token_files: [orders.token]}");

  ASSERT_FALSE(policy.has_value());
  EXPECT_THAT(policy.error(), HasSubstr("a token in orders.token already belongs to identity 'a'"));
  EXPECT_EQ(policy.error().find("the-old-token"), std::string::npos);
}

}  // namespace
}  // namespace tenure::access
