// A store that can be read but not written, as on a full disk: the replica is not ready, says why,
// and goes on by itself when there is room again.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {
namespace {

constexpr rlim_t kFileBytesMax = 64 << 10;

enum class Cause { kFullDisk, kLimit };

// One replica on a SQLite file. Its disk is full, or, which works on every machine, its files have
// reached their maximum size.
class FullDiskTest : public ::testing::TestWithParam<Cause> {
 protected:
  void SetUp() override {
    if (GetParam() == Cause::kFullDisk) {
      if (RunToEnd(OwnDisk({"true"})).exit_code != 0) GTEST_SKIP() << "no disk can be mounted here";
      host_.enter = OwnDisk({});
    }
    server_ = std::make_unique<Tenured>("sqlite:" + (folder_.path() / "tenure.db").string(),
                                        std::vector<std::string>(), true, host_);
    leader_ = Campaign(*server_, {.election = "e", .candidate = "a", .lease_ttl = 10min});
  }

  // Runs a command that finds a small disk in place of the folder.
  [[nodiscard]] std::vector<std::string> OwnDisk(const std::vector<std::string>& command) const {
    std::vector<std::string> line = {"unshare",
                                     "--mount",
                                     "sh",
                                     "-c",
                                     "mount -t tmpfs -o size=2m tmpfs \"$0\" && exec \"$@\"",
                                     folder_.path()};
    line.insert(line.end(), command.begin(), command.end());
    return line;
  }
  [[nodiscard]] std::string Filler() const {
    return "/proc/" + std::to_string(server_->process().pid()) + "/root" +
           (folder_.path() / "filler").string();
  }

  void FillTheDisk() {
    if (GetParam() == Cause::kLimit) return SetLimit(kFileBytesMax);
    std::ofstream filler(Filler());
    while (filler << std::string(4096, 'x') << std::flush) continue;
  }
  void FreeTheDisk() {
    if (GetParam() == Cause::kLimit) return SetLimit(RLIM_INFINITY);
    std::filesystem::remove(Filler());
  }
  void SetLimit(rlim_t bytes) {
    ASSERT_GT(std::filesystem::file_size(folder_.path() / "tenure.db-wal"), kFileBytesMax);
    const rlimit limit{bytes, RLIM_INFINITY};
    ASSERT_EQ(prlimit(server_->process().pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  }

  [[nodiscard]] bool Ready() const { return server_->Get("/readyz").first == 200; }
  [[nodiscard]] bool Logged(const std::string& text) const {
    return server_->process().Errors().find(text) != std::string::npos;
  }
  [[nodiscard]] bool Shows(const std::string& metric) const {
    return server_->Get("/metrics").second.find("\n" + metric + "\n") != std::string::npos;
  }

  const TempDir folder_;
  Host host_;
  std::unique_ptr<Tenured> server_;
  v1::CampaignResponse leader_;
};

INSTANTIATE_TEST_SUITE_P(Causes, FullDiskTest, ::testing::Values(Cause::kFullDisk, Cause::kLimit),
                         [](const auto& info) {
                           return info.param == Cause::kFullDisk ? "FullDisk" : "Limit";
                         });

// Nobody calls: the replica's own announcements show it.
TEST_P(FullDiskTest, AnIdleReplicaIsNotReadyAndRecovers) {
  FillTheDisk();

  EXPECT_TRUE(Eventually([&] { return !Ready(); }));
  EXPECT_TRUE(Shows("tenure_store_up 0"));
  EXPECT_TRUE(Eventually([&] { return Logged("the store cannot be used yet"); }))
      << server_->process().Errors();
  EXPECT_EQ(Leader(*server_, "e").leader().candidate(), "a");

  FreeTheDisk();

  EXPECT_TRUE(Eventually([&] { return Ready(); }));
  EXPECT_TRUE(Shows("tenure_store_up 1"));
  EXPECT_TRUE(Eventually([&] { return Logged("the store answers again"); }));
  EXPECT_EQ(Campaign(*server_, {.election = "f", .candidate = "b"}).elected().term(), 1u);
  EXPECT_EQ(Leader(*server_, "e").term(), 1u);
}

TEST_P(FullDiskTest, CallsThatWriteFailAndSucceedAgain) {
  FillTheDisk();
  const auto campaign = [&] {
    grpc::ClientContext context;
    v1::CampaignResponse response;
    return server_->stub().Campaign(&context, ToRequest(CampaignArguments{"f", "b"}), &response);
  };

  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(ReasonOf(campaign()), "STORE_UNAVAILABLE");
    return !Ready();
  }));
  EXPECT_TRUE(Logged("a transaction failed"));

  FreeTheDisk();

  EXPECT_TRUE(Eventually([&] { return campaign().ok(); }));
  EXPECT_TRUE(Eventually([&] { return Ready(); }));
}

}  // namespace
}  // namespace tenure::testing
