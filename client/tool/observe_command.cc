#include <future>

#include "base/text.h"
#include "client/cpp/io/follower.h"
#include "client/tool/commands.h"
#include "client/tool/output.h"
#include "client/tool/signals.h"
#include "client/tool/words.h"

namespace tenure {
namespace {

// Prints what one command observes, and ends after the requested number of lines.
class ObserveRun {
 public:
  ObserveRun(const CommonOptions& common, const ObserveCommandOptions& options)
      : common_(common),
        output_(common.json),
        options_(options),
        follower_({.endpoints = common.endpoints,
                   .wish = {options.elections, options.prefix, options.from_revision},
                   .log = [](const LogEntry& entry) { Output::Complain(entry.message); },
                   .service_id = common.service_id},
                  {.on_response = [this](const v1::ObserveResponse& response) { Show(response); }}),
        signals_([this](int) {
          follower_.Stop();
          while (end_.wait_for(Output::kPatience) == std::future_status::timeout) {
            if (Output::Writing()) Output::GiveUp();
          }
        }) {}

  int Run() {
    const grpc::Status status = follower_.Run(common_.Credentials());
    ended_.set_value();
    return status.ok() ? EXIT_SUCCESS : Output::Complain(status);
  }

 private:
  void Show(const v1::ObserveResponse& response) {
    switch (response.message_case()) {
      case v1::ObserveResponse::kSnapshot: return Show(response.snapshot());
      case v1::ObserveResponse::kEvent: return Show(response.event());
      case v1::ObserveResponse::kProgress:
      case v1::ObserveResponse::MESSAGE_NOT_SET: return;
    }
  }

  void Show(const v1::Snapshot& snapshot) {
    const bool resync = snapshot.reason() == v1::Snapshot::REASON_RESYNC;
    const std::string type = resync ? "RESYNC" : "SNAPSHOT";
    const bool led = snapshot.has_leader();
    const std::string& leader = snapshot.leader().candidate();
    const std::string& successor = snapshot.leader().successor();
    Line({{"election", snapshot.election()},
          {"revision", snapshot.revision()},
          {"type", type},
          {"term", snapshot.term()},
          {"leader", led ? Json(leader) : Json(nullptr)},
          {"value", led ? Json(snapshot.leader().value()) : Json(nullptr)},
          {"cause", nullptr},
          {"successor", SuccessorJson(successor)}},
         snapshot.election() + " #" + std::to_string(snapshot.revision()) + " " + type +
             (led ? " " + leader + " leads in term " + std::to_string(snapshot.term())
                  : " nobody leads") +
             SuccessorText(successor));
  }

  void Show(const v1::Event& event) {
    const v1::Leadership& leadership = event.leadership();
    const bool ended = event.cause() != v1::CAUSE_UNSPECIFIED;
    const bool asked = event.type() == v1::Event::TYPE_HANDOVER_ASKED;
    const std::string successor = asked ? leadership.successor() : "";
    Line({{"election", event.election()},
          {"revision", event.revision()},
          {"type", Word(event.type())},
          {"term", leadership.term()},
          {"leader", leadership.candidate()},
          {"value", leadership.value()},
          {"cause", ended ? Json(Word(event.cause())) : Json(nullptr)},
          {"successor", SuccessorJson(successor)}},
         event.election() + " #" + std::to_string(event.revision()) + " " + Word(event.type()) +
             " " + leadership.candidate() + " term " + std::to_string(leadership.term()) +
             (leadership.value().empty() ? "" : " value '" + leadership.value() + "'") +
             (ended ? " " + Word(event.cause()) : "") + SuccessorText(successor));
  }

  static Json SuccessorJson(const std::string& successor) {
    return successor.empty() ? Json(nullptr) : Json(successor);
  }

  static std::string SuccessorText(const std::string& successor) {
    return successor.empty() ? "" : ", asked to make way for " + successor;
  }

  void Line(const Json& object, const std::string& text) {
    if (options_.count && lines_ == *options_.count) return;
    output_.Line(object, text);
    if (Output::Failed()) return follower_.Stop();
    if (options_.count && ++lines_ == *options_.count) follower_.Stop();
  }

  const CommonOptions& common_;
  const Output output_;
  const ObserveCommandOptions& options_;
  uint64_t lines_ = 0;
  Follower follower_;
  std::promise<void> ended_;  // the follower has
  const std::future<void> end_ = ended_.get_future();
  const Signals signals_;  // before the follower runs, because that starts gRPC's threads
};

}  // namespace

int RunObserve(const CommonOptions& common, const ObserveCommandOptions& options) {
  return ObserveRun(common, options).Run();
}

}  // namespace tenure
