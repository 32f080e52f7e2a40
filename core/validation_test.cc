#include "core/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

MATCHER_P(FailsWith, reason, "") { return !arg && arg.error().reason == reason; }
MATCHER_P(Yields, value, "") { return arg && *arg == value; }

class AllowedNameTest : public ::testing::TestWithParam<std::string> {};

TEST_P(AllowedNameTest, AnAllowedNameIsKeptByteByByte) {
  EXPECT_THAT(ParseElectionName(GetParam()), Yields(ElectionName{GetParam()}));
  EXPECT_THAT(ParseCandidate(GetParam()), Yields(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Each, AllowedNameTest,
                         ::testing::Values("a", "orders", "Orders", "orders ", " orders", " ",
                                           "orders/eu", "host-7:4242", "~",
                                           "f\u00f6\u00f6",  // föö
                                           "\u00a0",         // the first after C1
                                           "\u9078\u6319",   // its bytes look like C1 alone
                                           "\U0001f451",     // four bytes
                                           "%_\\'\"`;--",    // SQL's own
                                           std::string(255, 'a')));

class ForbiddenNameTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ForbiddenNameTest, AForbiddenNameIsRefused) {
  EXPECT_THAT(ParseElectionName(GetParam()), FailsWith(Reason::kInvalidElectionName));
  EXPECT_THAT(ParseCandidate(GetParam()), FailsWith(Reason::kInvalidCandidate));
}

INSTANTIATE_TEST_SUITE_P(Each, ForbiddenNameTest,
                         ::testing::Values("",                     //
                                           std::string(256, 'a'),  //
                                           "a\0b"s,                // NUL
                                           "\tabc",                // the first byte
                                           "abc\n",                // the last byte
                                           "a\x1f",                // the last of C0
                                           "a\x7f",                // DEL
                                           "a\xc2\x80",            // the first of C1
                                           "a\xc2\x85z",           // NEL
                                           "a\xc2\x9f",            // the last of C1
                                           std::string(255, 'a') + "\u00f6"));

TEST(NameTest, LengthIsCountedInBytes) {
  std::string name;
  for (int i = 0; i < 127; ++i) name += "\u00f6";

  EXPECT_THAT(ParseElectionName(name + "a"), Yields(ElectionName{name + "a"}));
  EXPECT_THAT(ParseElectionName(name + "\u00f6"), FailsWith(Reason::kInvalidElectionName));
}

TEST(NameTest, ARefusalDoesNotRepeatTheControlCharacter) {
  const auto name = ParseElectionName("a\x1b[2J");

  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("control character"));
  EXPECT_THAT(name.error().message, Not(HasSubstr("\x1b")));
}

TEST(NameTest, ARefusalForLengthNamesBothLengths) {
  const auto name = ParseCandidate(std::string(300, 'a'));

  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("300"));
  EXPECT_THAT(name.error().message, HasSubstr("255"));
}

TEST(ValueTest, AValueHoldsUpTo4096BytesOfAnyKind) {
  std::string value(4096, '\0');
  value.back() = '\xff';

  EXPECT_THAT(ParseValue(value), Yields(value));
}

TEST(ValueTest, AValueMayBeEmpty) { EXPECT_THAT(ParseValue(""), Yields(""s)); }

TEST(ValueTest, AValueOf4097BytesIsRefused) {
  EXPECT_THAT(ParseValue(std::string(4097, 'a')), FailsWith(Reason::kInvalidValue));
}

const Limits kLimits{.lease_ttl_min = 2s, .lease_ttl_max = 60s, .lease_ttl_default = 15s};

TEST(LeaseTtlTest, WithoutALeaseTheDefaultApplies) {
  EXPECT_THAT(ParseLeaseTtl(std::nullopt, kLimits), Yields(Duration(15s)));
}

TEST(LeaseTtlTest, TheDefaultsAreWithinTheirOwnLimits) {
  EXPECT_THAT(ParseLeaseTtl(std::nullopt, Limits{}), Yields(Duration(10s)));
}

TEST(LeaseTtlTest, BothLimitsAreAllowed) {
  EXPECT_THAT(ParseLeaseTtl(2s, kLimits), Yields(Duration(2s)));
  EXPECT_THAT(ParseLeaseTtl(60s, kLimits), Yields(Duration(60s)));
}

class ForbiddenLeaseTtlTest : public ::testing::TestWithParam<Duration> {};

TEST_P(ForbiddenLeaseTtlTest, AForbiddenLeaseIsRefusedWithTheLimits) {
  const auto ttl = ParseLeaseTtl(GetParam(), kLimits);

  ASSERT_THAT(ttl, FailsWith(Reason::kInvalidLeaseTtl));
  EXPECT_THAT(ttl.error().metadata,
              UnorderedElementsAre(Pair("min_ms", "2000"), Pair("max_ms", "60000")));
}

INSTANTIATE_TEST_SUITE_P(Each, ForbiddenLeaseTtlTest,
                         ::testing::Values(Duration::min(), Duration(-1s), Duration(0),
                                           Duration(2s) - Duration(1), Duration(60s) + Duration(1),
                                           Duration::max()));

TEST(SessionIdParsingTest, ThirtyTwoLowerCaseDigitsAreAccepted) {
  const std::string hex = "00112233445566778899aabbccddeeff";

  EXPECT_THAT(ParseSessionId(hex), Yields(*SessionId::FromHex(hex)));
}

TEST(SessionIdParsingTest, EverythingElseIsRefused) {
  EXPECT_THAT(ParseSessionId(""), FailsWith(Reason::kInvalidSessionId));
  EXPECT_THAT(ParseSessionId("00112233445566778899AABBCCDDEEFF"),
              FailsWith(Reason::kInvalidSessionId));
}

TEST(SessionIdParsingTest, ARefusalDoesNotRepeatAPossibleSecret) {
  const auto id = ParseSessionId("00112233445566778899aabbccddeeff0");

  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message, Not(HasSubstr("00112233")));
}

TEST(TermTest, TermsStartAtOne) {
  EXPECT_THAT(ParseTerm(0), FailsWith(Reason::kInvalidTerm));
  EXPECT_THAT(ParseTerm(1), Yields(Term{1}));
}

TEST(TermTest, TheHighestNumberIsATerm) {
  const auto highest = std::numeric_limits<uint64_t>::max();

  EXPECT_THAT(ParseTerm(highest), Yields(Term{highest}));
}

}  // namespace
}  // namespace tenure
