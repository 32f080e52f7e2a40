#include "client/tool/top/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::top {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Key::Kind;

Key Character(const std::string& text) { return {Kind::kCharacter, text}; }

TEST(KeyDecoderTest, CharactersAreDecoded) {
  KeyDecoder decoder;

  EXPECT_THAT(decoder.Take("q/ö"), ElementsAre(Character("q"), Character("/"), Character("ö")));
  EXPECT_FALSE(decoder.pending());
}

TEST(KeyDecoderTest, ControlKeysAreDecoded) {
  EXPECT_THAT(KeyDecoder().Take("\r\x7f\b\x03"),
              ElementsAre(Key{Kind::kEnter}, Key{Kind::kBackspace}, Key{Kind::kBackspace},
                          Key{Kind::kInterrupt}));
}

TEST(KeyDecoderTest, ArrowsAreDecodedInBothForms) {
  EXPECT_THAT(KeyDecoder().Take("\x1b[A\x1bOB"), ElementsAre(Key{Kind::kUp}, Key{Kind::kDown}));
}

TEST(KeyDecoderTest, PageKeysHomeAndEndAreDecoded) {
  EXPECT_THAT(
      KeyDecoder().Take("\x1b[5~\x1b[6~\x1b[H\x1b[4~"),
      ElementsAre(Key{Kind::kPageUp}, Key{Kind::kPageDown}, Key{Kind::kHome}, Key{Kind::kEnd}));
}

TEST(KeyDecoderTest, UnknownSequencesAreDropped) {
  EXPECT_THAT(KeyDecoder().Take("\x1b[1;5Cx\x01\x1bOPy\xff"),
              ElementsAre(Character("x"), Character("y")));
}

TEST(KeyDecoderTest, AnIncompleteKeyWaitsForItsRest) {
  KeyDecoder decoder;

  EXPECT_THAT(decoder.Take("\x1b"), IsEmpty());
  EXPECT_TRUE(decoder.pending());
  EXPECT_THAT(decoder.Take("["), IsEmpty());
  EXPECT_THAT(decoder.Take("A\xc3"), ElementsAre(Key{Kind::kUp}));
  EXPECT_THAT(decoder.Take("\xb6"), ElementsAre(Character("ö")));
}

TEST(KeyDecoderTest, EscapeIsAKeyWhenNothingFollows) {
  KeyDecoder decoder;
  ASSERT_THAT(decoder.Take("\x1b"), IsEmpty());

  EXPECT_THAT(decoder.Flush(), ElementsAre(Key{Kind::kEscape}));
  EXPECT_FALSE(decoder.pending());
}

TEST(KeyDecoderTest, EscapeBeforeAnotherKeyIsAKey) {
  EXPECT_THAT(KeyDecoder().Take("\x1bq"), ElementsAre(Key{Kind::kEscape}, Character("q")));
}

TEST(KeyDecoderTest, AnEndlessSequenceIsGivenUp) {
  KeyDecoder decoder;

  EXPECT_THAT(decoder.Take("\x1b[" + std::string(100, '1')), IsEmpty());

  EXPECT_FALSE(decoder.pending());
}

}  // namespace
}  // namespace tenure::top
