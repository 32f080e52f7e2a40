#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "client/commands.h"
#include "client/connection.h"
#include "client/output.h"
#include "client/signals.h"

namespace tenure {
namespace {

constexpr size_t kResumedByNameMax = 900;  // the contract allows 1000 selectors

std::string NameOf(v1::Event::Type type) {
  return v1::Event::Type_Name(type).substr(std::string("TYPE_").size());
}

Json CauseOf(v1::Cause cause) {
  if (cause == v1::CAUSE_UNSPECIFIED) return nullptr;
  return v1::Cause_Name(cause).substr(std::string("CAUSE_").size());
}

// Follows the streams of one command, from one replica to the next, without a gap.
class Follower {
 public:
  Follower(const CommonOptions& common, const ObserveCommandOptions& options)
      : output_(common.json),
        options_(options),
        signals_([this] { Stop(); }),
        connection_(common.endpoints) {}

  int Run() {
    while (!stopped_) {
      const grpc::Status status = FollowOneStream();
      if (stopped_) break;
      if (!status.ok() && !IsTransient(status)) {
        Output::Complain(status);
        return kExitError;
      }
      connection_.MoveOn();
      std::this_thread::sleep_for(connection_.Backoff());
    }
    return EXIT_SUCCESS;
  }

 private:
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }

  grpc::Status FollowOneStream() {
    grpc::ClientContext context;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return grpc::Status::CANCELLED;
      context_ = &context;
    }
    if (!connection_.Connect()) {
      const std::lock_guard lock(mutex_);
      context_ = nullptr;
      return Unreachable();
    }
    const auto reader = connection_.stub()->Observe(&context, Request());
    v1::ObserveResponse response;
    while (!stopped_ && reader->Read(&response)) {
      connection_.Succeeded();
      Show(response);
    }
    if (stopped_) context.TryCancel();
    const grpc::Status status = reader->Finish();
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    return status;
  }

  v1::ObserveRequest Request() const {
    v1::ObserveRequest request;
    const bool resume_by_name = seen_.size() <= kResumedByNameMax;
    if (resume_by_name) {
      for (const auto& [election, revision] : seen_) {
        auto& selector = *request.add_selectors();
        selector.set_election(election);
        selector.set_from_revision(revision + 1);
      }
    }
    for (const std::string& name : options_.elections) {
      const bool resumed = !options_.prefix && resume_by_name && seen_.contains(name);
      if (resumed) continue;
      auto& selector = *request.add_selectors();
      options_.prefix ? selector.set_prefix(name) : selector.set_election(name);
      if (options_.from_revision) {
        selector.set_from_revision(*options_.from_revision);
      } else if (options_.prefix && opened_ && resume_by_name) {
        selector.set_from_revision(1);  // what came into being since: from its beginning
      }
    }
    return request;
  }

  void Show(const v1::ObserveResponse& response) {
    switch (response.message_case()) {
      case v1::ObserveResponse::kSnapshot: return Show(response.snapshot());
      case v1::ObserveResponse::kEvent: return Show(response.event());
      case v1::ObserveResponse::kProgress: opened_ = true; return;
      case v1::ObserveResponse::MESSAGE_NOT_SET: return;
    }
  }

  void Show(const v1::Snapshot& snapshot) {
    seen_[snapshot.election()] = snapshot.revision();
    const bool resync = snapshot.reason() == v1::Snapshot::REASON_RESYNC;
    const std::string type = resync ? "RESYNC" : "SNAPSHOT";
    const bool led = snapshot.has_leader();
    const std::string& leader = snapshot.leader().candidate();
    Line({{"election", snapshot.election()},
          {"revision", snapshot.revision()},
          {"type", type},
          {"term", snapshot.term()},
          {"leader", led ? Json(leader) : Json(nullptr)},
          {"value", led ? Json(snapshot.leader().value()) : Json(nullptr)},
          {"cause", nullptr}},
         snapshot.election() + " #" + std::to_string(snapshot.revision()) + " " + type +
             (led ? " " + leader + " leads in term " + std::to_string(snapshot.term())
                  : " nobody leads"));
  }

  void Show(const v1::Event& event) {
    seen_[event.election()] = event.revision();
    const v1::Leadership& leadership = event.leadership();
    const Json cause = CauseOf(event.cause());
    Line({{"election", event.election()},
          {"revision", event.revision()},
          {"type", NameOf(event.type())},
          {"term", leadership.term()},
          {"leader", leadership.candidate()},
          {"value", leadership.value()},
          {"cause", cause}},
         event.election() + " #" + std::to_string(event.revision()) + " " + NameOf(event.type()) +
             " " + leadership.candidate() + " term " + std::to_string(leadership.term()) +
             (leadership.value().empty() ? "" : " value '" + leadership.value() + "'") +
             (cause.is_null() ? "" : " " + cause.get<std::string>()));
  }

  void Line(const Json& object, const std::string& text) {
    output_.Line(object, text);
    if (options_.count && ++lines_ == *options_.count) stopped_ = true;
  }

  const Output output_;
  const ObserveCommandOptions& options_;

  std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  grpc::ClientContext* context_ = nullptr;  // guarded by mutex_

  const Signals signals_;  // before gRPC starts its threads, after what its callback uses
  Connection connection_;
  std::map<std::string, uint64_t> seen_;  // the last revision of each election
  bool opened_ = false;                   // everything there is has been shown once
  uint64_t lines_ = 0;
};

}  // namespace

int RunObserve(const CommonOptions& common, const ObserveCommandOptions& options) {
  return Follower(common, options).Run();
}

}  // namespace tenure
