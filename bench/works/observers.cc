#include "bench/works/observers.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

}  // namespace

class Observers::Stream final : public Tag {
 public:
  Stream(Observers& observers, std::shared_ptr<v1::ElectionService::Stub> stub,
         const std::string& election)
      : observers_(observers), stub_(std::move(stub)) {
    v1::ObserveRequest request;
    request.add_selectors()->set_election(election);
    reader_ = stub_->PrepareAsyncObserve(&context_, request, &Queue());
    reader_->StartCall(static_cast<Tag*>(this));
  }

  // One operation after another: the request, the messages, and the end.
  void Completed(bool ok) override {
    if (ending_) return OnEnd();
    if (!ok) {
      ending_ = true;
      return reader_->Finish(&status_, static_cast<Tag*>(this));
    }
    if (std::exchange(asked_, true)) OnMessage();
    reader_->Read(&response_, static_cast<Tag*>(this));
  }

  void Cancel() { context_.TryCancel(); }

 private:
  void OnMessage() {
    if (response_.has_snapshot()) {
      if (response_.snapshot().reason() == v1::Snapshot::REASON_RESYNC) {
        observers_.Fail("an observer was resynchronised");
      }
      revision_ = response_.snapshot().revision();
    } else if (response_.has_event()) {
      const uint64_t revision = response_.event().revision();
      if (revision != revision_ + 1) observers_.Fail("an observer missed an event");
      revision_ = revision;
      observers_.Note(revision, Clock::now());
    } else if (!std::exchange(open_, true)) {
      observers_.Opened();
    }
  }

  void OnEnd() {
    if (status_.error_code() != grpc::StatusCode::CANCELLED) {
      observers_.Fail("an observer lost its stream: " + status_.error_message());
    }
    observers_.Ended();
  }

  Observers& observers_;
  const std::shared_ptr<v1::ElectionService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReader<v1::ObserveResponse>> reader_;
  v1::ObserveResponse response_;
  grpc::Status status_;
  bool asked_ = false;  // the request is sent
  bool ending_ = false;
  uint64_t revision_ = 0;
  bool open_ = false;
};

Observers::Observers(TenureSystem& system, const std::string& election, size_t count)
    : count_(count) {
  for (size_t number = 0; number < count; ++number) {
    streams_.push_back(std::make_unique<Stream>(*this, system.NewStub(), election));
  }
  std::unique_lock lock(mutex_);
  WaitUntil(lock, [&] { return opened_ == count_; });
}

Observers::~Observers() {
  for (const auto& stream : streams_) stream->Cancel();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ == count_; });
}

Telling Observers::WaitForAll(uint64_t revision) {
  std::unique_lock lock(mutex_);
  WaitUntil(lock, [&] { return tellings_[revision].told == count_; });
  return tellings_[revision];
}

template <typename Condition>
void Observers::WaitUntil(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  const bool in_time =
      changed_.wait_for(lock, kPatience, [&] { return !error_.empty() || condition(); });
  if (!error_.empty()) throw std::runtime_error(error_);
  if (!in_time) throw std::runtime_error("not all observers got the event in time");
}

void Observers::Opened() {
  const std::lock_guard lock(mutex_);
  if (++opened_ == count_) changed_.notify_all();
}

void Observers::Note(uint64_t revision, Clock::time_point at) {
  const std::lock_guard lock(mutex_);
  Telling& telling = tellings_[revision];
  telling.first = std::min(telling.first, at);
  telling.last = std::max(telling.last, at);
  if (++telling.told == count_) changed_.notify_all();
}

void Observers::Fail(const std::string& error) {
  const std::lock_guard lock(mutex_);
  error_ = error;
  changed_.notify_all();
}

void Observers::Ended() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

}  // namespace tenure::bench
