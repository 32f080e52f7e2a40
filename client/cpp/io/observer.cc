#include "tenure/observer.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "client/cpp/io/follower.h"
#include "client/cpp/io/gate.h"
#include "client/cpp/machine/endpoints.h"
#include "core/validation.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;

void Check(bool fulfilled, const std::string& what_is_wrong) {
  if (!fulfilled) throw std::invalid_argument(what_is_wrong);
}

bool Selects(const ObserverOptions& options, const std::string& election) {
  return std::ranges::any_of(options.names, [&](const std::string& name) {
    return options.prefix ? election.starts_with(name) : election == name;
  });
}

void CheckFromRevisions(const ObserverOptions& options) {
  for (const auto& [election, revision] : options.from_revisions) {
    Check(Selects(options, election),
          "from_revisions has the election '" + election + "', which is not observed");
    const auto parsed = ParseElectionName(election);
    Check(parsed.has_value(), parsed ? "" : "from_revisions: " + parsed.error().message);
    Check(revision != 0, "from_revisions has 0 for '" + election + "'; revisions start at 1");
  }
  if (!options.prefix) return;
  const size_t most = kObservedMax - options.names.size();
  Check(options.from_revisions.size() <= most,
        "from_revisions has " + std::to_string(options.from_revisions.size()) +
            " entries; the maximum is " + std::to_string(most));
}

Follower::Options ToFollowerOptions(const ObserverOptions& options) {
  const auto endpoints = ParseEndpoints(options.endpoints);
  Check(endpoints.has_value(), endpoints ? "" : "endpoints: " + endpoints.error());
  Check(!options.names.empty(), "names is empty; it must have at least one name");
  const size_t names_max = options.prefix ? kPrefixesMax : kObservedMax;
  Check(options.names.size() <= names_max, "names has " + std::to_string(options.names.size()) +
                                               " entries; the maximum is " +
                                               std::to_string(names_max));
  for (const std::string& name : options.names) {
    if (options.prefix && name.empty()) continue;
    const auto parsed = ParseElectionName(name);
    Check(parsed.has_value(), parsed ? "" : parsed.error().message);
  }
  Check(options.service_id.empty() || IsServiceId(options.service_id),
        "service_id '" + options.service_id + "' is not 32 lower-case hexadecimal digits");
  Check(options.from_revision != 0, "from_revision is 0; revisions start at 1");
  CheckFromRevisions(options);
  Check(options.silence_max > 0ms, "silence_max is not positive; it must be more than 0");
  return {.endpoints = options.endpoints,
          .wish = {options.names, options.prefix, options.from_revision, options.from_revisions},
          .silence_max = options.silence_max,
          .log = options.log,
          .service_id = options.service_id};
}

}  // namespace

// Owned by the observer and by its thread, whichever lives longer.
class Observer::State {
 public:
  explicit State(ObserverOptions options)
      : options_(std::move(options)),
        follower_(
            ToFollowerOptions(options_),
            {.on_response = [this](const v1::ObserveResponse& response) { OnResponse(response); },
             .broken = [this](const grpc::Status& status) { Call(options_.on_broken, status); },
             .replaced =
                 [this] {
                   if (options_.on_service_replaced) callbacks_.Pass(options_.on_service_replaced);
                 }}) {}

  static void Start(const std::shared_ptr<State>& state) {
    state->thread_ = std::thread([state] {
      const grpc::Status status = state->follower_.Run(state->options_.credentials);
      if (!status.ok()) state->Call(state->options_.on_failed, status);
    });
  }

  void Close() {
    follower_.Stop();
    callbacks_.Close();
    const bool within = thread_.get_id() == std::this_thread::get_id();
    within ? thread_.detach() : thread_.join();
  }

 private:
  void OnResponse(const v1::ObserveResponse& response) {
    if (response.has_snapshot()) Call(options_.on_snapshot, response.snapshot());
    if (response.has_event()) Call(options_.on_event, response.event());
    if (response.has_progress()) Call(options_.on_progress, response.progress());
  }

  template <typename Callback, typename Argument>
  void Call(const Callback& callback, const Argument& argument) {
    if (callback) callbacks_.Pass([&] { callback(argument); });
  }

  const ObserverOptions options_;
  Gate callbacks_;
  Follower follower_;
  std::thread thread_;
};

Observer::Observer(ObserverOptions options) : state_(std::make_shared<State>(std::move(options))) {
  State::Start(state_);
}

Observer::~Observer() { state_->Close(); }

}  // namespace tenure
