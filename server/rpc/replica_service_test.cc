#include "server/rpc/replica_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace tenure::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// A server of this process, and one follower that takes nothing until it reads.
class ReplicaServiceTest : public ::testing::Test {
 protected:
  ReplicaServiceTest() {
    service_.WhenFollowed([this] { followed_.set_value(); });
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();

    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);  // the least: no message fits
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    stub_ = replicas::ReplicaService::NewStub(grpc::CreateCustomChannel(
        "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
    context_.set_deadline(std::chrono::system_clock::now() + 30s);
    replicas::FollowRequest request;
    request.set_replica_id(service_.id());
    reader_ = stub_->Follow(&context_, request);
    followed_.get_future().wait();
  }
  ~ReplicaServiceTest() override {
    context_.TryCancel();
    (void)reader_->Finish();
  }

  void Commit(int partition, uint64_t offset) { service_.Committed({partition, offset}); }
  // The next message; empty if none comes.
  std::vector<uint64_t> Read() {
    replicas::FollowResponse message;
    if (!reader_->Read(&message)) return {};
    return {message.offsets().begin(), message.offsets().end()};
  }

  Metrics metrics_;
  ReplicaService service_{metrics_, "the id"};
  std::promise<void> followed_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<replicas::ReplicaService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<replicas::FollowResponse>> reader_;
};

TEST_F(ReplicaServiceTest, CommitsDuringAHeldBackWriteArriveAfterIt) {
  Commit(1, 5);
  Commit(3, 7);
  Commit(1, 4);  // of another thread, which was overtaken

  EXPECT_THAT(Read(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(Read(), ElementsAre(0, 5, 0, 7));
}

TEST_F(ReplicaServiceTest, ACommitAfterAHeldBackWriteArrives) {
  Commit(0, 1);
  ASSERT_THAT(Read(), ElementsAre(0, 0, 0, 0));
  ASSERT_THAT(Read(), ElementsAre(1, 0, 0, 0));

  Commit(2, 3);
  EXPECT_THAT(Read(), ElementsAre(1, 0, 3, 0));
  Commit(2, 4);
  EXPECT_THAT(Read(), ElementsAre(1, 0, 4, 0));
}

}  // namespace
}  // namespace tenure::rpc
