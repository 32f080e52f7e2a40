// Every error as it appears on the wire.
#include "proto/status.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr auto kFirst = Reason::kInvalidElectionName;
constexpr auto kLast = Reason::kWrongService;

std::vector<Reason> AllReasons() {
  std::vector<Reason> all;
  for (int i = static_cast<int>(kFirst); i <= static_cast<int>(kLast); ++i) {
    all.push_back(static_cast<Reason>(i));
  }
  return all;
}

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

// All details of one type.
template <typename Message>
std::vector<Message> All(const google::rpc::Status& details) {
  std::vector<Message> all;
  for (const auto& detail : details.details()) {
    Message message;
    if (detail.UnpackTo(&message)) all.push_back(message);
  }
  return all;
}

class StatusTest : public ::testing::TestWithParam<Reason> {
 protected:
  const Error error_{GetParam(), "what went wrong", {{"key", "value"}}};
  const grpc::Status status_ = ToStatus(error_);
  const google::rpc::Status details_ = DetailsOf(status_);
};

INSTANTIATE_TEST_SUITE_P(Reasons, StatusTest, ::testing::ValuesIn(AllReasons()),
                         [](const auto& info) { return ReasonName(info.param); });

TEST_P(StatusTest, EveryReasonHasAMeaningfulCode) {
  EXPECT_NE(status_.error_code(), grpc::StatusCode::OK);
  EXPECT_NE(status_.error_code(), grpc::StatusCode::UNKNOWN);
  EXPECT_EQ(status_.error_code(), CodeOf(GetParam()));
}

TEST_P(StatusTest, TheDetailsRepeatTheCodeAndTheMessage) {
  EXPECT_EQ(status_.error_message(), "what went wrong");
  EXPECT_EQ(details_.message(), "what went wrong");
  EXPECT_EQ(details_.code(), static_cast<int>(status_.error_code()));
}

TEST_P(StatusTest, OneErrorInfoHasDomainReasonAndMetadata) {
  const auto infos = All<google::rpc::ErrorInfo>(details_);

  ASSERT_THAT(infos, SizeIs(1));
  EXPECT_EQ(infos[0].domain(), "tenure.v1");
  EXPECT_EQ("ERROR_REASON_" + infos[0].reason(), v1::ErrorReason_Name(ToProto(GetParam())));
  EXPECT_THAT(infos[0].metadata(), ElementsAre(Pair("key", "value")));
}

TEST_P(StatusTest, OnlyRetriableErrorsHaveARetryInfo) {
  const std::set<Reason> transient = {Reason::kOverloaded, Reason::kStoreUnavailable,
                                      Reason::kDraining};

  const auto retries = All<google::rpc::RetryInfo>(details_);

  ASSERT_THAT(retries, SizeIs(transient.contains(GetParam()) ? 1 : 0));
  if (retries.empty()) return;
  EXPECT_GT(google::protobuf::util::TimeUtil::DurationToMilliseconds(retries[0].retry_delay()), 0);
}

TEST_P(StatusTest, ThereAreNoOtherDetails) {
  EXPECT_EQ(details_.details_size(), All<google::rpc::ErrorInfo>(details_).size() +
                                         All<google::rpc::RetryInfo>(details_).size());
}

TEST(StatusCatalogueTest, EveryReasonOfTheContractBelongsToExactlyOneError) {
  std::set<int> reached;
  for (const Reason reason : AllReasons()) reached.insert(ToProto(reason));

  std::set<int> contract;
  const auto* descriptor = v1::ErrorReason_descriptor();
  for (int i = 0; i < descriptor->value_count(); ++i) {
    contract.insert(descriptor->value(i)->number());
  }
  contract.erase(v1::ERROR_REASON_UNSPECIFIED);
  EXPECT_EQ(reached, contract);
  EXPECT_EQ(reached.size(), AllReasons().size());
}

TEST(StatusCatalogueTest, AnErrorAfterTheLastOneWouldBeNoticed) {
  const auto after_last = static_cast<Reason>(static_cast<int>(kLast) + 1);

  EXPECT_EQ(ToProto(after_last), v1::ERROR_REASON_UNSPECIFIED);
}

TEST(StatusCatalogueTest, ALongMessageIsCutBetweenCharacters) {
  const std::string longest(1'000, 'x');
  const std::string cut(996, 'x');

  EXPECT_EQ(ToStatus({Reason::kStoreUnavailable, longest}).error_message(), longest);
  EXPECT_EQ(ToStatus({Reason::kStoreUnavailable, cut + "\u00e4yyyy"}).error_message(), cut + "...");
}

TEST(StatusCatalogueTest, AnErrorWithoutMetadataHasNone) {
  const auto status = ToStatus({Reason::kNotLeader, "no"});

  const auto infos = All<google::rpc::ErrorInfo>(DetailsOf(status));

  ASSERT_THAT(infos, SizeIs(1));
  EXPECT_EQ(infos[0].metadata_size(), 0);
}

}  // namespace
}  // namespace tenure
