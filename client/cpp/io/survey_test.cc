// Which answers a survey waits for, and which it receives later.
#include "client/cpp/io/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr auto kPatience = 60s;

const std::string kRight(32, '1');
const std::string kWrong(32, '9');

// Answers with its service id once allowed.
class Replica final : public v1::ElectionService::Service {
 public:
  Replica(std::string service_id, std::shared_future<void> may_answer)
      : service_id_(std::move(service_id)), may_answer_(std::move(may_answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Replica() override { server_->Shutdown(std::chrono::system_clock::now()); }

  [[nodiscard]] std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

  grpc::Status Identify(grpc::ServerContext*, const v1::IdentifyRequest*,
                        v1::IdentifyResponse* response) override {
    may_answer_.wait();
    response->set_service_id(service_id_);
    return grpc::Status::OK;
  }

 private:
  const std::string service_id_;
  const std::shared_future<void> may_answer_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

class SurveyTest : public ::testing::Test {
 protected:
  SurveyTest() { now_.set_value(); }

  std::promise<void> now_;
  std::promise<void> later_;
  const std::shared_future<void> is_later_ = later_.get_future().share();
  const std::shared_future<void> is_now_ = now_.get_future().share();
  Replica first_{kRight, is_now_};
  Replica second_{kRight, is_now_};
  Replica slow_{kWrong, is_later_};
  std::vector<std::string> said_;
  ClientLog log_{[this](const LogEntry& entry) { said_.push_back(entry.message); }, nullptr,
                 [](const auto& task) { task(); }};
};

TEST_F(SurveyTest, AnEndpointOfAnotherServiceIsNamedEvenIfItAnswersAfterMostAgreed) {
  Connection connection(slow_.endpoint() + "," + first_.endpoint() + "," + second_.endpoint());
  std::promise<SurveyResult> done;
  std::promise<std::pair<std::string, std::string>> late;

  const auto survey = Survey::Start(
      connection, std::chrono::system_clock::now() + kPatience,
      [&](SurveyResult result) { done.set_value(std::move(result)); },
      [&](const std::string& endpoint, const std::string& service_id) {
        late.set_value({endpoint, service_id});
      });
  ASSERT_TRUE(Settle(done.get_future().get(), connection, log_, {}, [] {}).ok());
  EXPECT_EQ(connection.service().id, kRight);
  later_.set_value();
  auto heard = late.get_future();
  ASSERT_EQ(heard.wait_for(kPatience), std::future_status::ready);
  const auto [endpoint, service_id] = heard.get();
  EXPECT_FALSE(HearService(endpoint, service_id, connection, log_));
  EXPECT_FALSE(HearService(endpoint, service_id, connection, log_)) << "as from a refused call";

  EXPECT_THAT(
      said_, ElementsAre(slow_.endpoint() + " belongs to service " + kWrong + ", not to " + kRight +
                         ": its replica works on another database; it is not used"));
}

// It would have no service to be compared with, and the endpoint would not be named.
TEST_F(SurveyTest, AnAnswerThatComesWhileTheResultIsReportedIsHeardAfterwards) {
  Connection connection(slow_.endpoint() + "," + first_.endpoint() + "," + second_.endpoint());
  std::atomic<bool> reported = false;
  std::promise<std::string> late;

  const auto survey = Survey::Start(
      connection, std::chrono::system_clock::now() + kPatience,
      [&](const SurveyResult&) {
        later_.set_value();
        grpc::ClientContext context;
        v1::IdentifyResponse response;
        EXPECT_TRUE(connection.stub(0)->Identify(&context, {}, &response).ok())
            << "answered after the survey's own call";
        reported = true;
      },
      [&](const std::string& endpoint, const std::string&) {
        EXPECT_TRUE(reported);
        late.set_value(endpoint);
      });

  EXPECT_EQ(late.get_future().get(), slow_.endpoint());
}

TEST_F(SurveyTest, ALateAnswerThatOvertakesTheChoiceIsNotUsed) {
  Connection connection(slow_.endpoint() + "," + first_.endpoint() + "," + second_.endpoint());

  HearService(slow_.endpoint(), kWrong, connection, log_);

  EXPECT_EQ(connection.service().id, "");
}

// Otherwise its connection's destructor would wait for the whole patience.
TEST_F(SurveyTest, CancellingEndsTheWaitForLateAnswers) {
  std::promise<void> done;
  {
    Connection connection(slow_.endpoint() + "," + first_.endpoint() + "," + second_.endpoint());
    const auto survey = Survey::Start(
        connection, std::chrono::system_clock::now() + kPatience,
        [&](const SurveyResult&) { done.set_value(); },
        [](const std::string& endpoint, const std::string&) { ADD_FAILURE() << endpoint; });
    done.get_future().wait();
    survey->Cancel();
  }
  later_.set_value();
}

}  // namespace
}  // namespace tenure
