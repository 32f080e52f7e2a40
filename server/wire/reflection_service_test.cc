#include "server/wire/reflection_service.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "server/wire/health_service.h"
#include "server/wire/local_server.h"
#include "tests/support/process.h"

namespace tenure::wire {
namespace {

using grpc::reflection::v1::ServerReflection;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kStreamsOfAnAddressMax = 16;

class ReflectionServiceTest : public ::testing::Test {
 protected:
  struct Stream {
    explicit Stream(ServerReflection::Stub& stub) : calls(stub.ServerReflectionInfo(&context)) {}
    ~Stream() {
      if (calls == nullptr) return;
      context.TryCancel();
      (void)calls->Finish();
    }
    ServerReflectionResponse Ask(const ServerReflectionRequest& request) {
      ServerReflectionResponse response;
      EXPECT_TRUE(calls->Write(request));
      EXPECT_TRUE(calls->Read(&response));
      return response;
    }
    grpc::StatusCode End() { return std::exchange(calls, nullptr)->Finish().error_code(); }

    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<ServerReflectionRequest, ServerReflectionResponse>>
        calls;
  };

  ServerReflectionResponse Ask(const ServerReflectionRequest& request) {
    return Stream(*stub_).Ask(request);
  }

  static std::vector<std::string> FilesOf(const ServerReflectionResponse& response) {
    std::vector<std::string> names;
    for (const auto& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      names.push_back(file.name());
    }
    return names;
  }

  std::unique_ptr<HealthService> health_;
  Result<void> may_ask_;
  std::unique_ptr<ReflectionService> reflection_;
  LocalServer server_{[this](Dispatcher& dispatcher) {
    health_ = std::make_unique<HealthService>(dispatcher);
    reflection_ =
        std::make_unique<ReflectionService>(dispatcher, [this](const auto&) { return may_ask_; });
  }};
  std::unique_ptr<ServerReflection::Stub> stub_ = ServerReflection::NewStub(server_.Connect());
};

TEST_F(ReflectionServiceTest, ListsTheServicesOfTheServer) {
  ServerReflectionRequest request;
  request.set_list_services("*");

  std::vector<std::string> names;
  const auto response = Ask(request);
  for (const auto& service : response.list_services_response().service()) {
    names.push_back(service.name());
  }

  EXPECT_THAT(names, ElementsAre("grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"));
}

TEST_F(ReflectionServiceTest, AFileComesWithItsImports) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol("google.protobuf.UninterpretedOption");
  EXPECT_THAT(FilesOf(Ask(request)), ElementsAre("google/protobuf/descriptor.proto"));

  request.set_file_containing_symbol("grpc.health.v1.Health.Check");
  EXPECT_THAT(FilesOf(Ask(request)), ElementsAre("grpc/health/v1/health.proto"));

  request.set_file_by_filename("grpc/health/v1/health.proto");
  EXPECT_THAT(FilesOf(Ask(request)), ElementsAre("grpc/health/v1/health.proto"));
}

TEST_F(ReflectionServiceTest, UnknownNamesAreNotFoundAndTheStreamGoesOn) {
  Stream stream(*stub_);
  std::vector<ServerReflectionRequest> requests(4);
  requests[0].set_file_containing_symbol("no.such.Symbol");
  requests[1].set_file_by_filename("../../etc/passwd");
  requests[2].set_all_extension_numbers_of_type("no.such.Type");
  requests[3].mutable_file_containing_extension()->set_containing_type("no.such.Type");
  for (const auto& request : requests) {
    EXPECT_EQ(stream.Ask(request).error_response().error_code(),
              static_cast<int>(grpc::StatusCode::NOT_FOUND));
  }
  EXPECT_EQ(stream.Ask({}).error_response().error_code(),
            static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));

  requests[0].set_all_extension_numbers_of_type("grpc.health.v1.HealthCheckRequest");
  EXPECT_THAT(stream.Ask(requests[0]).all_extension_numbers_response().extension_number(),
              IsEmpty());
}

TEST_F(ReflectionServiceTest, ARequestThatIsTooLargeEndsTheStream) {
  Stream stream(*stub_);
  ServerReflectionRequest request;
  request.set_host(std::string(5'000, 'x'));

  ASSERT_TRUE(stream.calls->Write(request));

  EXPECT_EQ(stream.End(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ReflectionServiceTest, CallersThatMayNotAskAreRefused) {
  may_ask_ = Fail(Reason::kPermissionDenied, "the policy does not know you");
  EXPECT_EQ(Stream(*stub_).End(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(ReflectionServiceTest, AnAddressLeavesHalfOfTheStreamsToOthers) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kStreamsOfAnAddressMax; ++i) {
    streams.push_back(std::make_unique<Stream>(*stub_));
    streams.back()->Ask({});
  }

  EXPECT_EQ(Stream(*stub_).End(), grpc::StatusCode::RESOURCE_EXHAUSTED);

  streams.clear();
  EXPECT_TRUE(testing::Eventually([&] { return server_.dispatcher().open_calls() == 0; }));
  Stream(*stub_).Ask({});
}

}  // namespace
}  // namespace tenure::wire
