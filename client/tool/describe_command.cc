#include "base/duration_text.h"
#include "base/text.h"
#include "client/tool/admin_commands.h"
#include "client/tool/call.h"
#include "client/tool/election_text.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "proto/time.h"

namespace tenure {
namespace {

constexpr size_t kLabelWidth = 10;
constexpr size_t kValueShown = 100;  // columns

Json ToJson(const v1::Candidate& candidate) {
  return {{"position", candidate.position()},
          {"candidate", candidate.candidate()},
          {"session", candidate.session_handle()},
          {"priority", candidate.priority()},
          {"value", candidate.value()},
          {"lease_left_ms", MillisOf(candidate.lease_left())},
          {"cools_down_until",
           TimeJson(candidate.has_cools_down_until(), candidate.cools_down_until())}};
}

// The output for people: one fact per line, and the queue.
class Sheet {
 public:
  Sheet(const Output& output, const v1::Election& election)
      : output_(output), election_(election), now_(WallClock()) {}

  void Show(const std::vector<v1::Candidate>& queue) const {
    Fact("election", election_.name());
    Fact("leader", Leader());
    if (election_.has_leader()) Fact("value", Value());
    if (election_.has_lease_left()) Fact("lease", Lease());
    if (const auto state = StateText(election_, now_); !state.empty()) Fact("state", state);
    Fact("revision", std::to_string(election_.revision()));
    Fact("settings", SettingsText(election_.settings()));
    output_.Text("");
    ShowQueue(queue);
  }

 private:
  void Fact(const std::string& name, const std::string& text) const {
    output_.Text(PadAfter(name, kLabelWidth) + text);
  }

  [[nodiscard]] std::string Leader() const {
    const std::string term = std::to_string(election_.term());
    if (!election_.has_leader()) {
      return election_.term() == 0 ? "nobody; no term yet" : "nobody; the last term was " + term;
    }
    const v1::Leadership& leader = election_.leader();
    const DbTime since = FromProto(leader.elected_time());
    return leader.candidate() + " in term " + term + ", since " + LocalText(since) + " (" +
           AgeText(now_ - since) + ")";
  }

  [[nodiscard]] std::string Value() const {
    return "'" + CutTo(Printable(election_.leader().value()), kValueShown) + "'";
  }

  [[nodiscard]] std::string Lease() const {
    return LeftText(DurationOf(election_.lease_left())) + " left of " +
           DurationText(DurationOf(election_.leader().lease_ttl()));
  }

  void ShowQueue(const std::vector<v1::Candidate>& queue) const {
    if (queue.empty()) return output_.Text("the queue is empty");
    Table table({{.title = "#", .align = Align::kRight},
                 {.title = "CANDIDATE", .width_max = 40},
                 {.title = "SESSION"},
                 {.title = "PRIORITY", .align = Align::kRight},
                 {.title = "LEASE", .align = Align::kRight},
                 {.title = "KEPT OUT", .align = Align::kRight},
                 {.title = "VALUE", .width_max = 40}});
    for (const v1::Candidate& candidate : queue) {
      const Duration kept_out = FromProto(candidate.cools_down_until()) - now_;
      table.Add({std::to_string(candidate.position()), candidate.candidate(),
                 candidate.session_handle(), std::to_string(candidate.priority()),
                 LeftText(DurationOf(candidate.lease_left())),
                 candidate.has_cools_down_until() ? AgeText(kept_out) : "-", candidate.value()});
    }
    output_.Text(table);
    if (election_.candidates() > queue.size()) {
      output_.Text("(" + std::to_string(election_.candidates()) +
                   " candidates are waiting; --limit 0 shows all of them)");
    }
  }

  const Output& output_;
  const v1::Election& election_;
  const DbTime now_;
};

}  // namespace

int RunDescribe(const CommonOptions& common, const DescribeOptions& options) {
  const Output output(common.json);
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  v1::DescribeElectionRequest request;
  request.set_election(options.election);
  v1::Election election;
  std::vector<v1::Candidate> queue;
  Paging paging{options.limit};
  const auto status =
      CallForPages(connection, &v1::AdminService::Stub::DescribeElection, request, paging,
                   [&](const v1::DescribeElectionResponse& page) {
                     if (queue.empty()) election = page.election();
                     queue.insert(queue.end(), page.queue().begin(), page.queue().end());
                     return page.queue_size();
                   });
  if (!status.ok()) return Output::Complain(status);

  if (output.json()) {
    Json object = ToJson(election);
    object["queue"] = Json::array();
    for (const v1::Candidate& candidate : queue) object["queue"].push_back(ToJson(candidate));
    output.Object(object);
  } else {
    Sheet(output, election).Show(queue);
  }
  return EXIT_SUCCESS;
}

}  // namespace tenure
