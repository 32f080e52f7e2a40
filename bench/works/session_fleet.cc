#include "bench/works/session_fleet.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <latch>
#include <stdexcept>

namespace tenure::bench {
namespace {

using google::protobuf::util::TimeUtil;
using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace std::chrono_literals;

constexpr size_t kSessionsPerRequest = 500;
constexpr int kRenewalsPerLease = 3;

// Sessions renewed by one request.
struct Block {
  std::vector<std::string> ids;
  Clock::time_point next;      // when to renew them
  Clock::time_point deadline;  // when the first of the leases ends
};

}  // namespace

// One KeepAlive stream, and the thread that drives it.
class SessionFleet::Stream {
 public:
  Stream(std::shared_ptr<v1::ElectionService::Stub> stub, std::chrono::seconds lease)
      : lease_(lease), stub_(std::move(stub)), stream_(stub_->KeepAlive(&context_)) {
    thread_ = std::thread([this] { Run(); });
  }

  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    context_.TryCancel();
    thread_.join();
    (void)stream_->Finish();
  }

  void Add(std::vector<std::string> ids, Clock::time_point opened) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back({std::move(ids), opened + lease_ / kRenewalsPerLease, opened + lease_});
    changed_.notify_all();
  }

  Renewals Take() {
    const std::lock_guard lock(mutex_);
    if (lost_) throw std::runtime_error("a KeepAlive stream was lost");
    Renewals taken = std::exchange(renewals_, {});
    renewals_.least_margin_ms = Milliseconds(lease_).count();
    return taken;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!stopping_ && !lost_) {
      const auto due = std::ranges::min_element(blocks_, {}, &Block::next);
      if (due == blocks_.end()) {
        changed_.wait(lock);
      } else if (due->next > Clock::now()) {
        changed_.wait_until(lock, Clock::time_point(due->next));
      } else {
        Renew(lock, static_cast<size_t>(due - blocks_.begin()));
      }
    }
  }

  void Renew(std::unique_lock<std::mutex>& lock, size_t number) {
    v1::KeepAliveRequest request;
    request.set_sequence(++sequence_);
    const auto& ids = blocks_[number].ids;
    request.mutable_session_ids()->Add(ids.begin(), ids.end());
    lock.unlock();
    const auto begun = Clock::now();
    v1::KeepAliveResponse response;
    bool open = stream_->Write(request);
    do {
      open = open && stream_->Read(&response);
    } while (open && response.renewal().sequence() != request.sequence());
    const auto ended = Clock::now();
    lock.lock();
    if (!open) {
      lost_ = !stopping_;
      return;
    }
    for (const auto& session : response.renewal().sessions()) {
      ++(session.has_lease_ttl() ? renewals_.renewed : renewals_.refused);
    }
    Block& block = blocks_[number];
    renewals_.trips_ms.push_back(Milliseconds(ended - begun).count());
    renewals_.least_margin_ms =
        std::min(renewals_.least_margin_ms, Milliseconds(block.deadline - ended).count());
    block.deadline = begun + lease_;
    block.next = begun + lease_ / kRenewalsPerLease;
  }

  const std::chrono::milliseconds lease_;
  const std::shared_ptr<v1::ElectionService::Stub> stub_;
  grpc::ClientContext context_;
  const std::unique_ptr<grpc::ClientReaderWriter<v1::KeepAliveRequest, v1::KeepAliveResponse>>
      stream_;
  uint64_t sequence_ = 0;  // for the thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block> blocks_;  // guarded by mutex_
  Renewals renewals_;          // guarded by mutex_
  bool lost_ = false;          // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_
  std::thread thread_;
};

namespace {

// Opens sessions, a fixed number at a time, and passes them on in blocks.
class Opening {
 public:
  using Take = std::function<void(std::vector<std::string> ids, Clock::time_point opened)>;

  Opening(TenureSystem& system, std::string label, const FleetPlan& plan, Take take)
      : label_(std::move(label)),
        plan_(plan),
        take_(std::move(take)),
        ended_(static_cast<std::ptrdiff_t>(plan.in_flight)) {
    for (size_t number = 0; number < plan.in_flight; ++number) stubs_.push_back(system.NewStub());
  }

  void ToItsEnd() {
    for (const auto& stub : stubs_) BeginNext(*stub);
    ended_.wait();
    const std::lock_guard lock(mutex_);
    if (!error_.empty()) throw std::runtime_error(error_);
    if (!gathered_.empty()) take_(std::move(gathered_), gathered_from_);
  }

 private:
  void BeginNext(v1::ElectionService::Stub& stub) {
    const size_t number = next_++;
    if (number >= plan_.sessions) return ended_.count_down();
    v1::CampaignRequest request;
    request.set_election(label_ + "-" + std::to_string(number % plan_.elections));
    request.set_candidate("session-" + std::to_string(number));
    *request.mutable_lease_ttl() = TimeUtil::SecondsToDuration(plan_.lease.count());
    *request.mutable_wait() = TimeUtil::SecondsToDuration(0);
    const auto begun = Clock::now();
    BeginCall<v1::CampaignResponse>(
        "Campaign", request,
        [&](auto&&... arguments) { return stub.PrepareAsyncCampaign(arguments...); },
        [this, begun](const v1::CampaignResponse& response) {
          Gather(response.session().session_id(), begun);
          return std::string();
        },
        [this, &stub](const std::string& error) {
          if (error.empty()) return BeginNext(stub);
          const std::lock_guard lock(mutex_);
          error_ = error;
          ended_.count_down();
        });
  }

  void Gather(const std::string& id, Clock::time_point begun) {
    const std::lock_guard lock(mutex_);
    gathered_from_ = gathered_.empty() ? begun : std::min(gathered_from_, begun);
    gathered_.push_back(id);
    if (gathered_.size() == kSessionsPerRequest)
      take_(std::exchange(gathered_, {}), gathered_from_);
  }

  const std::string label_;
  const FleetPlan plan_;
  const Take take_;
  std::vector<std::shared_ptr<v1::ElectionService::Stub>> stubs_;
  std::atomic<size_t> next_ = 0;
  std::latch ended_;
  std::mutex mutex_;
  std::vector<std::string> gathered_;  // guarded by mutex_
  Clock::time_point gathered_from_;    // guarded by mutex_
  std::string error_;                  // guarded by mutex_
};

}  // namespace

SessionFleet::SessionFleet(TenureSystem& system, const std::string& label, const FleetPlan& plan) {
  for (size_t number = 0; number < plan.streams; ++number) {
    streams_.push_back(std::make_unique<Stream>(system.NewStub(), plan.lease));
  }
  size_t blocks = 0;
  const auto begun = Clock::now();
  Opening(system, label, plan, [&](std::vector<std::string> ids, Clock::time_point opened) {
    streams_[blocks++ % streams_.size()]->Add(std::move(ids), opened);
  }).ToItsEnd();
  opened_per_second_ = static_cast<double>(plan.sessions) /
                       std::chrono::duration<double>(Clock::now() - begun).count();
}

SessionFleet::~SessionFleet() = default;

Renewals SessionFleet::TakeRenewals() {
  Renewals all = streams_.front()->Take();
  for (auto stream = streams_.begin() + 1; stream != streams_.end(); ++stream) {
    const Renewals more = (*stream)->Take();
    all.renewed += more.renewed;
    all.refused += more.refused;
    all.trips_ms.insert(all.trips_ms.end(), more.trips_ms.begin(), more.trips_ms.end());
    all.least_margin_ms = std::min(all.least_margin_ms, more.least_margin_ms);
  }
  return all;
}

}  // namespace tenure::bench
