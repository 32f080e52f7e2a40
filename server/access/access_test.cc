// Access, as a server in this process asks it about calls.
#include "server/access/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "proto/status.h"
#include "tenure/v1/election.grpc.pb.h"
#include "tests/support/process.h"

namespace tenure::access {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr char kPolicy[] = R"(
identities:
  - name: orders
    token_files: [%/orders]
    rules: [{verbs: [observe], prefixes: [""]}]
    limits: {requests_per_second: 1}
  - name: reports
    token_files: [%/reports]
    rules: [{verbs: [observe], prefixes: [""]}]
    limits: {requests_per_second: 1}
)";
constexpr char kOrders[] = "the-token-of-the-orders";
constexpr char kReports[] = "the-token-of-the-reports";
constexpr char kService[] = "0123456789abcdef0123456789abcdef";
constexpr char kAlmostTheSame[] = "0123456789abcdef0123456789abcdee";

class Service final : public v1::ElectionService::CallbackService {
 public:
  explicit Service(Access& access) : access_(access) {}

  grpc::ServerUnaryReactor* Leader(grpc::CallbackServerContext* context,
                                   const v1::LeaderRequest* request,
                                   v1::LeaderResponse* /*response*/) override {
    const auto caller = access_.Admit(*context, Verb::kObserve, {{request->election()}});
    auto* reactor = context->DefaultReactor();
    reactor->Finish(caller ? grpc::Status::OK : ToStatus(caller.error()));
    return reactor;
  }

 private:
  Access& access_;
};

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    std::string policy = kPolicy;
    for (size_t at; (at = policy.find('%')) != policy.npos;)
      policy.replace(at, 1, folder_.path().string());
    const auto path = folder_.path() / "policy.yaml";
    std::ofstream(path) << policy;
    std::ofstream(folder_.path() / "orders") << kOrders;
    std::ofstream(folder_.path() / "reports") << kReports;
    access_ = Access::Open(path, [this] { return now_.load(); }).value();
    access_->Serve([] { return kService; });
    service_ = std::make_unique<Service>(*access_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::ElectionService::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                             grpc::InsecureChannelCredentials()));
  }

  grpc::StatusCode Call(const std::string& token, const std::string& service_id = kService) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    context.AddMetadata("tenure-service-id", service_id);
    context.set_wait_for_ready(true);
    v1::LeaderResponse response;
    return stub_->Leader(&context, v1::LeaderRequest(), &response).error_code();
  }

  testing::TempDir folder_;
  std::atomic<engine::SteadyTime> now_ = engine::SteadyTime(1h);
  std::unique_ptr<Access> access_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ElectionService::Stub> stub_;
};

TEST_F(AccessTest, ServiceIdsAreComparedToTheEnd) {
  EXPECT_EQ(Call(kOrders, kAlmostTheSame), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Call(kOrders), grpc::StatusCode::OK);
}

TEST_F(AccessTest, EachIdentityHasALimitOfItsOwn) {
  EXPECT_EQ(Call(kOrders), grpc::StatusCode::OK);
  EXPECT_EQ(Call(kOrders), grpc::StatusCode::RESOURCE_EXHAUSTED);

  EXPECT_EQ(Call(kReports), grpc::StatusCode::OK);
}

TEST_F(AccessTest, AFileIsNotUsedWhileItMayStillBeWritten) {
  constexpr char kAnother[] = "another-token-of-the-orders";
  std::ofstream(folder_.path() / "orders") << kAnother;

  EXPECT_TRUE(access_->Refresh());
  EXPECT_EQ(Call(kAnother), grpc::StatusCode::PERMISSION_DENIED);

  EXPECT_TRUE(access_->Refresh());
  EXPECT_EQ(Call(kAnother), grpc::StatusCode::OK);
}

TEST_F(AccessTest, AFloodOfRefusalsIsLoggedInPartAndLaterOnesAreLoggedAgain) {
  const auto logged = [&](int calls) {
    ::testing::internal::CaptureStdout();
    for (int i = 0; i < calls; ++i) EXPECT_EQ(Call("wrong"), grpc::StatusCode::PERMISSION_DENIED);
    return ::testing::internal::GetCapturedStdout();
  };
  const auto refusals_in = [](const std::string& log) {
    int count = 0;
    for (size_t at = 0; (at = log.find("call refused", at)) != log.npos; ++at) ++count;
    return count;
  };

  EXPECT_EQ(refusals_in(logged(150)), 100);
  now_ = now_.load() + 1s;
  const std::string after = logged(1);

  EXPECT_THAT(after, HasSubstr("more calls were refused than are logged count=50"));
  EXPECT_EQ(refusals_in(after), 1);
}

}  // namespace
}  // namespace tenure::access
