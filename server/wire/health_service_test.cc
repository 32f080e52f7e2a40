#include "server/wire/health_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/wire/local_server.h"
#include "tests/support/process.h"

namespace tenure::wire {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthCheckRequest For(const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  return request;
}

class HealthServiceTest : public ::testing::Test {
 protected:
  grpc::Status Check(const std::string& service, HealthCheckResponse& response) {
    grpc::ClientContext context;
    return stub_->Check(&context, For(service), &response);
  }

  struct Watch {
    Watch(Health::Stub& stub, const std::string& service)
        : reader(stub.Watch(&context, For(service))) {}
    ~Watch() {
      context.TryCancel();
      (void)reader->Finish();
    }
    HealthCheckResponse::ServingStatus Next() {
      HealthCheckResponse response;
      EXPECT_TRUE(reader->Read(&response));
      return response.status();
    }
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
  };

  std::unique_ptr<HealthService> health_;
  LocalServer server_{
      [this](Dispatcher& dispatcher) { health_ = std::make_unique<HealthService>(dispatcher); }};
  std::unique_ptr<Health::Stub> stub_ = Health::NewStub(server_.Connect());
};

TEST_F(HealthServiceTest, ACheckReturnsTheLatestStatus) {
  HealthCheckResponse response;
  EXPECT_TRUE(Check("", response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);

  health_->SetServing(true);

  EXPECT_TRUE(Check("", response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
}

TEST_F(HealthServiceTest, ACheckOfAnotherNameIsNotFound) {
  HealthCheckResponse response;
  EXPECT_EQ(Check("tenure.v1.ElectionService", response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthServiceTest, AWatcherHearsEachChangeOnce) {
  Watch watch(*stub_, "");
  EXPECT_EQ(watch.Next(), HealthCheckResponse::NOT_SERVING);

  health_->SetServing(true);
  health_->SetServing(true);

  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);
  health_->SetServing(false);
  EXPECT_EQ(watch.Next(), HealthCheckResponse::NOT_SERVING);
}

TEST_F(HealthServiceTest, AWatcherOfAnotherNameHearsThatItIsUnknown) {
  Watch watch(*stub_, "orders");

  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  EXPECT_EQ(server_.dispatcher().open_calls(), 1u);
}

TEST_F(HealthServiceTest, OneConnectionShutsOutNobodyElse) {
  std::vector<std::unique_ptr<Watch>> watches;
  for (const std::string service : {"", "orders"}) {
    for (int i = 0; i < 5; ++i) {
      watches.push_back(std::make_unique<Watch>(*stub_, service));
      watches.back()->Next();
    }
  }
  Watch eleventh(*stub_, "");
  HealthCheckResponse response;
  EXPECT_FALSE(eleventh.reader->Read(&response));

  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto other = Health::NewStub(server_.Connect(own));
  EXPECT_EQ(Watch(*other, "").Next(), HealthCheckResponse::NOT_SERVING);

  watches.clear();
  EXPECT_TRUE(testing::Eventually([&] { return server_.dispatcher().open_calls() == 0; }));
  EXPECT_EQ(Watch(*stub_, "").Next(), HealthCheckResponse::NOT_SERVING);
}

}  // namespace
}  // namespace tenure::wire
