// A replica gives back the memory that a burst of calls took.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "tests/support/tenured.h"

namespace tenure::testing {
namespace {

constexpr int kObservers = 3'000;
constexpr double kBytesOfAnObserver = 10'000;  // at least

// A call that nobody reads.
struct Unread {
  explicit Unread(Tenured& server) {
    context.set_deadline(std::chrono::system_clock::now() + 4 * kPatience);
    v1::ObserveRequest request;
    request.add_selectors()->set_election("e");
    reader = server.stub().Observe(&context, request);
    reader->WaitForInitialMetadata();
  }
  ~Unread() {
    context.TryCancel();
    (void)reader->Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::ObserveResponse>> reader;
};

TEST(MemoryTest, TheMemoryOfABurstOfCallsIsGivenBack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's allocator keeps what is freed";
#endif
  Tenured server("sqlite::memory:");
  { const Unread first(server); }
  const double before = server.process().ResidentBytes();

  std::vector<std::unique_ptr<Unread>> observers;
  for (int i = 0; i < kObservers; ++i) observers.push_back(std::make_unique<Unread>(server));
  ASSERT_EQ(server.Metric("tenure_watchers"), kObservers);
  const double taken = server.process().ResidentBytes() - before;
  ASSERT_GT(taken, kObservers * kBytesOfAnObserver);
  observers.clear();

  const auto kept = [&] { return server.process().ResidentBytes() - before; };
  EXPECT_TRUE(Eventually([&] { return kept() < taken / 2; })) << kept() << " of " << taken;
}

}  // namespace
}  // namespace tenure::testing
