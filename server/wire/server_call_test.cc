// Calls that end in every way: each ends when it should, and leaves nothing behind.
#include "server/wire/server_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "proto/status.h"
#include "server/wire/local_server.h"
#include "tenure/v1/election.grpc.pb.h"
#include "tests/support/process.h"

namespace tenure::wire {
namespace {

using namespace std::chrono_literals;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1::ServerReflection;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

// Leaves the call open until the test finishes it.
class Waiting final : public CallHandler {
 public:
  explicit Waiting(ServerCall& call) : call_(call) {}

  void OnCancelled() override { Finish(grpc::Status::CANCELLED); }
  void Finish(const grpc::Status& status) {
    if (!finished_.exchange(true)) call_.Finish(status);
  }

 private:
  ServerCall& call_;  // valid until finished
  std::atomic<bool> finished_ = false;
};

// Repeats what it reads, three times each, until the client has sent everything.
class Echo final : public CallHandler {
 public:
  explicit Echo(ServerCall& call) : call_(call) {}

  void OnRead(grpc::ByteBuffer* message) override {
    if (message == nullptr) return call_.Finish(grpc::Status::OK);
    if (!call_.Receive(*message, request_)) return Refuse(call_, MalformedRequest());
    left_ = 3;
    Write();
  }
  void OnWritten(bool ok) override {
    if (!ok) return call_.Finish(grpc::Status::CANCELLED);
    if (--left_ > 0) return Write();
    call_.Read();
  }

 private:
  void Write() {
    ServerReflectionResponse response;
    *response.mutable_original_request() = request_;
    call_.Write(response);
  }

  ServerCall& call_;  // valid until finished
  ServerReflectionRequest request_;
  int left_ = 0;
};

class ServerCallTest : public ::testing::Test {
 protected:
  // Uses the names of gRPC's own methods, for which there are stubs.
  void AddTo(Dispatcher& dispatcher) {
    const auto& health = *HealthCheckRequest::descriptor()->file()->service(0);
    const auto& reflection = *ServerReflectionRequest::descriptor()->file()->service(0);
    dispatcher.Add(health, "Check", *this, &ServerCallTest::Check);
    dispatcher.Add(health, "Watch", *this, &ServerCallTest::Watch,
                   {100'000, [](const grpc::ServerContextBase&) -> Result<void> {
                      return Fail(Reason::kPermissionDenied, "you are nobody");
                    }});
    dispatcher.AddStream(reflection, "ServerReflectionInfo", *this, &ServerCallTest::Info);
  }

  void Check(ServerCall& call, const HealthCheckRequest& request) {
    if (request.service() == "none") return Refuse(call, {Reason::kOverloaded, "full"});
    HealthCheckResponse response;
    response.set_status(HealthCheckResponse::SERVING);
    call.Answer(response);
  }
  void Watch(ServerCall& call, const HealthCheckRequest& /*request*/) {
    const auto waiting = std::make_shared<Waiting>(call);
    const std::lock_guard lock(mutex_);
    waiting_.push_back(waiting);
    call.ServeWith(waiting);
  }
  void Info(ServerCall& call) {
    call.ServeWith(std::make_shared<Echo>(call));
    call.Read();
  }

  // Whether all calls have ended.
  [[nodiscard]] bool AreOver() {
    return testing::Eventually([&] { return server_->dispatcher().open_calls() == 0; });
  }
  [[nodiscard]] bool AreOpen(size_t calls) {
    return testing::Eventually([&] { return server_->dispatcher().open_calls() == calls; });
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<Waiting>> waiting_;
  std::unique_ptr<LocalServer> server_ =
      std::make_unique<LocalServer>([this](Dispatcher& dispatcher) { AddTo(dispatcher); });
  std::shared_ptr<grpc::Channel> channel_ = server_->Connect();
  std::unique_ptr<Health::Stub> health_ = Health::NewStub(channel_);
  std::unique_ptr<ServerReflection::Stub> reflection_ = ServerReflection::NewStub(channel_);
};

TEST_F(ServerCallTest, ACallEndsOnceItIsAnswered) {
  for (const std::string name : {"", "none"}) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(name);
    HealthCheckResponse response;
    const auto status = health_->Check(&context, request, &response);
    EXPECT_EQ(status.error_code(),
              name.empty() ? grpc::StatusCode::OK : CodeOf(Reason::kOverloaded));
    EXPECT_TRUE(AreOver());
  }
}

TEST_F(ServerCallTest, AMethodThatDoesNotExistIsUnimplemented) {
  grpc::ClientContext context;
  v1::LeaderResponse response;

  const auto status =
      v1::ElectionService::NewStub(channel_)->Leader(&context, v1::LeaderRequest(), &response);

  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(AreOver());
}

TEST_F(ServerCallTest, ALargeRequestIsRefusedBeforeItIsParsed) {
  HealthCheckRequest request;
  HealthCheckResponse response;
  const auto check = [&](size_t bytes) {
    grpc::ClientContext context;
    request.set_service(std::string(bytes, 'x'));
    return health_->Check(&context, request, &response).error_code();
  };
  EXPECT_EQ(check(60'000), grpc::StatusCode::OK);
  EXPECT_EQ(check(70'000), grpc::StatusCode::INVALID_ARGUMENT);

  // A method that takes larger requests from callers with permission.
  const auto watch = [&](size_t bytes) {
    grpc::ClientContext context;
    request.set_service(std::string(bytes, 'x'));
    return health_->Watch(&context, request)->Finish().error_code();
  };
  EXPECT_EQ(watch(70'000), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(watch(110'000), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(AreOver());
}

TEST_F(ServerCallTest, AStreamAnswersInOrder) {
  grpc::ClientContext context;
  const auto stream = reflection_->ServerReflectionInfo(&context);
  for (int i = 0; i < 100; ++i) {
    ServerReflectionRequest request;
    request.set_host(std::to_string(i));
    ASSERT_TRUE(stream->Write(request));
    for (int copy = 0; copy < 3; ++copy) {
      ServerReflectionResponse response;
      ASSERT_TRUE(stream->Read(&response));
      EXPECT_EQ(response.original_request().host(), std::to_string(i));
    }
  }

  stream->WritesDone();

  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(AreOver());
}

// Between two operations, or in the middle of one.
TEST_F(ServerCallTest, CallsThatTheirClientBreaksOffLeaveNothing) {
  for (int round = 0; round < 300; ++round) {
    grpc::ClientContext context;
    if (round % 2 == 0) {
      const auto reader = health_->Watch(&context, HealthCheckRequest());
      context.TryCancel();
      (void)reader->Finish();
      continue;
    }
    const auto stream = reflection_->ServerReflectionInfo(&context);
    for (int i = 0; i < round % 7; ++i) stream->Write(ServerReflectionRequest());
    ServerReflectionResponse response;
    for (int i = 0; i < round % 5 && i < 3 * (round % 7); ++i) stream->Read(&response);
    context.TryCancel();
    (void)stream->Finish();
  }

  EXPECT_TRUE(AreOver());
}

TEST_F(ServerCallTest, ACallThatEndsWhileItsClientBreaksOffEndsOnce) {
  for (int round = 0; round < 300; ++round) {
    grpc::ClientContext context;
    const auto reader = health_->Watch(&context, HealthCheckRequest());
    ASSERT_TRUE(testing::Eventually([&] {
      const std::lock_guard lock(mutex_);
      return !waiting_.empty();
    }));
    std::jthread other([&] { context.TryCancel(); });
    {
      const std::lock_guard lock(mutex_);
      waiting_.front()->Finish(grpc::Status::OK);
      waiting_.clear();
    }
    (void)reader->Finish();
  }

  EXPECT_TRUE(AreOver());
}

TEST_F(ServerCallTest, ACallThatSendsNothingIsCancelled) {
  server_ = std::make_unique<LocalServer>([this](Dispatcher& it) { AddTo(it); }, 50ms);
  reflection_ = ServerReflection::NewStub(server_->Connect());
  grpc::ClientContext speaking, silent;
  const auto spoken = reflection_->ServerReflectionInfo(&speaking);
  ASSERT_TRUE(spoken->Write({}));
  const auto unspoken = reflection_->ServerReflectionInfo(&silent);
  ServerReflectionResponse response;

  EXPECT_FALSE(unspoken->Read(&response));
  EXPECT_EQ(unspoken->Finish().error_code(), grpc::StatusCode::CANCELLED);

  EXPECT_TRUE(spoken->Write({}));
  for (int copy = 0; copy < 6; ++copy) EXPECT_TRUE(spoken->Read(&response));
  spoken->WritesDone();
  EXPECT_TRUE(spoken->Finish().ok());
  EXPECT_TRUE(AreOver());
}

// A method with one request, which the client takes for a stream.
TEST_F(ServerCallTest, ACallWithoutItsRequestIsCancelled) {
  server_ = std::make_unique<LocalServer>([this](Dispatcher& it) { AddTo(it); }, 50ms);
  const auto channel = server_->Connect();
  const grpc::internal::RpcMethod check("/grpc.health.v1.Health/Check",
                                        grpc::internal::RpcMethod::BIDI_STREAMING, channel);
  grpc::ClientContext context;
  const std::unique_ptr<grpc::ClientReaderWriter<HealthCheckRequest, HealthCheckResponse>> stream(
      grpc::internal::ClientReaderWriterFactory<HealthCheckRequest, HealthCheckResponse>::Create(
          channel.get(), check, &context));
  HealthCheckResponse response;

  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(AreOver());
}

TEST_F(ServerCallTest, AServerThatIsShutDownEndsOpenCalls) {
  grpc::ClientContext watch_context;
  const auto reader = health_->Watch(&watch_context, HealthCheckRequest());
  grpc::ClientContext info_context;
  const auto stream = reflection_->ServerReflectionInfo(&info_context);
  ASSERT_TRUE(AreOpen(2));

  server_.reset();  // waits for its queues

  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_FALSE(stream->Finish().ok());
}

}  // namespace
}  // namespace tenure::wire
