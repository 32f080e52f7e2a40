#include "client/cpp/machine/closed_terms.h"

#include <gtest/gtest.h>

#include <string>

namespace tenure {
namespace {

TEST(ClosedTermsTest, OnlyTheLatestElectionsAreKept) {
  ClosedTerms terms;
  for (size_t i = 0; i <= kClosedTermsMax; ++i) terms.Raise(std::to_string(i), i + 1);

  EXPECT_EQ(terms.Of("0"), 0u);
  EXPECT_EQ(terms.Of("1"), 2u);
  EXPECT_EQ(terms.Of(std::to_string(kClosedTermsMax)), kClosedTermsMax + 1);
}

TEST(ClosedTermsTest, AnElectionThatIsRaisedAgainIsTheLatest) {
  ClosedTerms terms;
  for (size_t i = 0; i < kClosedTermsMax; ++i) terms.Raise(std::to_string(i), 1);

  terms.Raise("0", 7);
  terms.Raise("another", 1);

  EXPECT_EQ(terms.Of("0"), 7u);
  EXPECT_EQ(terms.Of("1"), 0u);
}

TEST(ClosedTermsTest, AClosedTermNeverFalls) {
  ClosedTerms terms;
  terms.Raise("e", 7);

  terms.Raise("e", 5);

  EXPECT_EQ(terms.Of("e"), 7u);
}

}  // namespace
}  // namespace tenure
