#include "tests/polyglot/bad_days/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

constexpr char kData = 0;
constexpr char kHeaders = 1;

std::string Frame(char type, char stream, const std::string& payload) {
  return std::string({0, 0, static_cast<char>(payload.size()), type, 0, 0, 0, 0, stream}) + payload;
}
std::string Message(const std::string& bytes) {
  return std::string({0, 0, 0, 0, static_cast<char>(bytes.size())}) + bytes;
}

TEST(MessagesTest, AreReadFromDataFramesHoweverTheyAreSplit) {
  Messages messages(false);
  const std::string bytes = Frame(kHeaders, 1, "headers") + Frame(kData, 1, Message("one")) +
                            Frame(kData, 3, Message("two") + Message("three").substr(0, 6)) +
                            Frame(kData, 1, Message("")) +
                            Frame(kData, 3, Message("three").substr(6));

  std::vector<Messages::Message> found;
  for (const char byte : bytes) {
    for (auto& message : messages.Take({&byte, 1})) found.push_back(std::move(message));
  }

  EXPECT_THAT(found, ElementsAre(FieldsAre(1, "one"), FieldsAre(3, "two"), FieldsAre(1, ""),
                                 FieldsAre(3, "three")));
}

TEST(MessagesTest, BeginAfterTheClientsPreface) {
  Messages messages(true);

  EXPECT_THAT(messages.Take("PRI * HTTP/2.0\r\n\r\n"), IsEmpty());
  EXPECT_THAT(messages.Take("SM\r\n\r\n" + Frame(kData, 1, Message("one"))),
              ElementsAre(FieldsAre(1, "one")));
}

}  // namespace
}  // namespace tenure::testing
