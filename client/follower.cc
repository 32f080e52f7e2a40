#include "client/follower.h"

namespace tenure {
namespace {

constexpr size_t kResumedByNameMax = 900;  // the contract allows 1000 selectors

}  // namespace

grpc::Status Follower::Run() {
  Connection connection(endpoints_);
  while (true) {
    const grpc::Status status = FollowOneStream(connection);
    if (Stopped()) return grpc::Status::OK;
    if (!status.ok() && !IsTransient(status)) return status;
    listener_.broken(status);
    connection.MoveOn();
    std::unique_lock lock(mutex_);
    stop_.wait_for(lock, connection.Backoff(), [this] { return stopped_; });
  }
}

void Follower::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (context_ != nullptr) context_->TryCancel();
  stop_.notify_all();
}

bool Follower::Stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

grpc::Status Follower::FollowOneStream(Connection& connection) {
  if (!connection.Connect()) return Unreachable();
  grpc::ClientContext context;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return grpc::Status::CANCELLED;
    context_ = &context;
  }
  const auto reader = connection.stub()->Observe(&context, Request());
  v1::ObserveResponse response;
  while (reader->Read(&response)) {
    connection.Succeeded();
    Note(response);
    listener_.told(response);
    if (Stopped()) break;
  }
  if (Stopped()) context.TryCancel();
  const grpc::Status status = reader->Finish();
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
  return status;
}

v1::ObserveRequest Follower::Request() const {
  v1::ObserveRequest request;
  const bool resume_by_name = seen_.size() <= kResumedByNameMax;
  if (resume_by_name) {
    for (const auto& [election, revision] : seen_) {
      auto& selector = *request.add_selectors();
      selector.set_election(election);
      selector.set_from_revision(revision + 1);
    }
  }
  for (const std::string& name : wish_.names) {
    const bool resumed = !wish_.prefix && resume_by_name && seen_.contains(name);
    if (resumed) continue;
    auto& selector = *request.add_selectors();
    wish_.prefix ? selector.set_prefix(name) : selector.set_election(name);
    if (wish_.from_revision) {
      selector.set_from_revision(*wish_.from_revision);
    } else if (wish_.prefix && opened_ && resume_by_name) {
      selector.set_from_revision(1);  // what came into being since: from its beginning
    }
  }
  return request;
}

void Follower::Note(const v1::ObserveResponse& response) {
  switch (response.message_case()) {
    case v1::ObserveResponse::kSnapshot:
      seen_[response.snapshot().election()] = response.snapshot().revision();
      return;
    case v1::ObserveResponse::kEvent:
      seen_[response.event().election()] = response.event().revision();
      return;
    case v1::ObserveResponse::kProgress: opened_ = true; return;
    case v1::ObserveResponse::MESSAGE_NOT_SET: return;
  }
}

}  // namespace tenure
