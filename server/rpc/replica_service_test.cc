#include "server/rpc/replica_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/wire/local_server.h"
#include "tenure/replicas.grpc.pb.h"

namespace tenure::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// A server in this process, and one follower that receives nothing until it reads.
class ReplicaServiceTest : public ::testing::Test {
 protected:
  ReplicaServiceTest() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);  // the minimum: no message fits
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    stub_ = replicas::ReplicaService::NewStub(server_.Connect(arguments));
    first_ = Follow();
    while (metrics_.followers.Value() == 0) std::this_thread::yield();
  }

  // One follower's stream.
  struct Stream {
    ~Stream() {
      if (reader == nullptr) return;
      context.TryCancel();
      (void)reader->Finish();
    }
    // The next message; empty if none comes.
    std::vector<uint64_t> Read() {
      replicas::FollowResponse message;
      if (!reader->Read(&message)) return {};
      return {message.offsets().begin(), message.offsets().end()};
    }
    grpc::StatusCode End() {
      while (!Read().empty()) continue;
      return std::exchange(reader, nullptr)->Finish().error_code();
    }

    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<replicas::FollowResponse>> reader;
  };
  std::unique_ptr<Stream> Follow(const std::string& service_id = "") {
    auto stream = std::make_unique<Stream>();
    stream->context.set_deadline(std::chrono::system_clock::now() + 30s);
    replicas::FollowRequest request;
    request.set_replica_id(service_.id());
    request.set_service_id(service_id);
    stream->reader = stub_->Follow(&stream->context, request);
    return stream;
  }

  void Commit(int partition, uint64_t offset) { service_.Committed({partition, offset}); }
  std::vector<uint64_t> Read() { return first_->Read(); }

  Metrics metrics_;
  std::atomic<int> announced_ = 0;  // followers
  ReplicaService service_{metrics_, "the id", {}};
  wire::LocalServer server_{[this](wire::Dispatcher& dispatcher) {
    service_.Serve([] { return std::string(); }, [this] { ++announced_; });
    service_.AddTo(dispatcher);
  }};
  std::unique_ptr<replicas::ReplicaService::Stub> stub_;
  std::unique_ptr<Stream> first_;
};

TEST_F(ReplicaServiceTest, AFollowerIsAnnounced) {
  ASSERT_FALSE(Read().empty());

  EXPECT_EQ(announced_, 1);
}

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

TEST_F(ReplicaServiceTest, ANewFollowerHearsOfEarlierCommits) {
  Commit(1, 5);

  EXPECT_THAT(Follow()->Read(), ElementsAre(0, 5, 0, 0));
}

TEST_F(ReplicaServiceTest, ReplicasFollowBeforeTheServiceIsKnown) {
  EXPECT_THAT(Follow("1f")->Read(), ElementsAre(0, 0, 0, 0));
}

TEST_F(ReplicaServiceTest, NobodyFollowsAReplicaThatDrains) {
  service_.Drain();

  EXPECT_EQ(first_->End(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Follow()->End(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace tenure::rpc
