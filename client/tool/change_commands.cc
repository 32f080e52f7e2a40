// Operators' changes: appoint, depose, pause, resume, configure, delete, purge, end-session.
#include <optional>
#include <tl/expected.hpp>

#include "base/text.h"
#include "client/tool/admin_commands.h"
#include "client/tool/call.h"
#include "client/tool/election_text.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "client/tool/words.h"
#include "proto/time.h"

namespace tenure {
namespace {

using Admin = v1::AdminService::Stub;

// One change of one election: reads its state, makes the change, prints the outcome.
class Change {
 public:
  Change(const CommonOptions& common, const ChangeOptions& options)
      : options_(options),
        output_(common.json),
        connection_(common.endpoints, common.Credentials(), HealthCheck::kOff, common.service_id) {}

  // The term that the change is meant for: the given one, or else the current one.
  [[nodiscard]] tl::expected<uint64_t, grpc::Status> Term() {
    if (options_.term) {
      term_sent_ = options_.term;
      return *term_sent_;
    }
    v1::DescribeElectionRequest request;
    request.set_election(options_.election);
    request.set_page_size(1);
    v1::DescribeElectionResponse response;
    const auto status = Call(connection_, &Admin::DescribeElection, request, &response);
    if (!status.ok()) return tl::unexpected(status);
    seen_ = response.election();
    term_sent_ = seen_->term();
    return *term_sent_;
  }
  // The election as it was read to find the term.
  [[nodiscard]] const std::optional<v1::Election>& seen() const { return seen_; }

  template <typename Request>
  [[nodiscard]] Request Prepare() const {
    Request request;
    request.set_election(options_.election);
    request.set_reason(options_.reason);
    return request;
  }

  [[nodiscard]] Connection& connection() { return connection_; }

  // `object` is added to the outcome in the output for programs.
  int Say(const std::string& outcome, const Json& object, const std::string& sentence) const {
    Json whole = {{"outcome", outcome}};
    if (term_sent_) whole["term_sent"] = *term_sent_;
    whole.update(object);
    const std::string note = seen_ ? " (seen in term " + std::to_string(seen_->term()) + ")" : "";
    output_.Line(whole, options_.election + ": " + sentence + note);
    return EXIT_SUCCESS;
  }

 private:
  const ChangeOptions& options_;
  const Output output_;
  Connection connection_;
  std::optional<uint64_t> term_sent_;
  std::optional<v1::Election> seen_;
};

// Says who leads.
std::string LeaderText(const v1::Election& election) {
  const std::string term = std::to_string(election.term());
  return election.has_leader() ? election.leader().candidate() + " leads in term " + term
                               : "nobody leads";
}

std::string AppointSentence(const v1::AppointResponse& response, const std::string& candidate) {
  const v1::Election& election = response.election();
  switch (response.outcome()) {
    case v1::AppointResponse::OUTCOME_LEADS: return LeaderText(election);
    case v1::AppointResponse::OUTCOME_HANDOVER_ASKED:
      return election.leader().candidate() + " was asked to make way for " + candidate;
    case v1::AppointResponse::OUTCOME_RESERVED: {
      const auto& appointment = election.appointment();
      return "the seat is reserved for " + candidate +
             (appointment.has_reserved_until()
                  ? " until " + LocalText(FromProto(appointment.reserved_until()))
                  : "");
    }
    default: return Word(response.outcome());
  }
}

}  // namespace

int RunAppoint(const CommonOptions& common, const AppointOptions& options) {
  Change change(common, options.change);
  const auto term = change.Term();
  if (!term) return Output::Complain(term.error());

  auto request = change.Prepare<v1::AppointRequest>();
  request.set_term(*term);
  request.set_candidate(options.candidate);
  request.set_force(options.force);
  if (options.reserve_for) *request.mutable_reserve_for() = ToProto(*options.reserve_for);
  v1::AppointResponse response;
  const auto status = Call(change.connection(), &Admin::Appoint, request, &response);
  if (!status.ok()) return Output::Complain(status);
  return change.Say(Word(response.outcome()), ToJson(response.election()),
                    AppointSentence(response, options.candidate));
}

int RunDepose(const CommonOptions& common, const DeposeOptions& options) {
  Change change(common, options.change);
  const auto term = change.Term();
  if (!term) return Output::Complain(term.error());
  if (change.seen() && !change.seen()->has_leader()) {
    return change.Say("OVER_ALREADY", ToJson(*change.seen()), "nobody leads; nothing to do");
  }

  auto request = change.Prepare<v1::DeposeRequest>();
  request.set_term(*term);
  if (options.cool_down) *request.mutable_cool_down() = ToProto(*options.cool_down);
  v1::DeposeResponse response;
  const auto status = Call(change.connection(), &Admin::Depose, request, &response);
  if (!status.ok()) return Output::Complain(status);
  const std::string ended = "term " + std::to_string(*term);
  return change.Say(response.deposed() ? "DEPOSED" : "OVER_ALREADY", ToJson(response.election()),
                    (response.deposed() ? ended + " has ended; " : ended + " had already ended; ") +
                        LeaderText(response.election()));
}

int RunPause(const CommonOptions& common, const ChangeOptions& options) {
  Change change(common, options);
  v1::PauseResponse response;
  const auto status =
      Call(change.connection(), &Admin::Pause, change.Prepare<v1::PauseRequest>(), &response);
  if (!status.ok()) return Output::Complain(status);
  return change.Say("PAUSED", ToJson(response.election()),
                    "paused, so the seat will not be granted; " + LeaderText(response.election()));
}

int RunResume(const CommonOptions& common, const ChangeOptions& options) {
  Change change(common, options);
  v1::ResumeResponse response;
  const auto status =
      Call(change.connection(), &Admin::Resume, change.Prepare<v1::ResumeRequest>(), &response);
  if (!status.ok()) return Output::Complain(status);
  return change.Say("RESUMED", ToJson(response.election()),
                    "not paused; " + LeaderText(response.election()));
}

int RunConfigure(const CommonOptions& common, const ConfigureOptions& options) {
  Change change(common, options.change);
  auto request = change.Prepare<v1::UpdateElectionRequest>();
  request.set_allow_missing(true);
  if (options.lock_delay) *request.mutable_lock_delay() = ToProto(*options.lock_delay);
  if (options.min_hold) *request.mutable_min_hold() = ToProto(*options.min_hold);
  if (options.default_ttl) *request.mutable_default_lease_ttl() = ToProto(*options.default_ttl);
  if (options.max_ttl) *request.mutable_max_lease_ttl() = ToProto(*options.max_ttl);
  if (options.max_candidates) request.set_max_candidates(*options.max_candidates);
  v1::UpdateElectionResponse response;
  const auto status = Call(change.connection(), &Admin::UpdateElection, request, &response);
  if (!status.ok()) return Output::Complain(status);
  return change.Say("CONFIGURED", ToJson(response.election()),
                    SettingsText(response.election().settings()));
}

int RunDelete(const CommonOptions& common, const ChangeOptions& options) {
  Change change(common, options);
  const auto term = change.Term();
  if (!term) return Output::Complain(term.error());

  auto request = change.Prepare<v1::DeleteElectionRequest>();
  request.set_term(*term);
  v1::DeleteElectionResponse response;
  const auto status = Call(change.connection(), &Admin::DeleteElection, request, &response);
  if (!status.ok()) return Output::Complain(status);
  return change.Say(
      response.deleted() ? "DELETED" : "DELETED_ALREADY",
      {{"election", options.election}, {"term", response.term()}},
      (response.deleted() ? "deleted; the next term will be higher than "
                          : "was already deleted; the next term will be higher than ") +
          std::to_string(response.term()));
}

int RunPurge(const CommonOptions& common, const PurgeOptions& options) {
  const Output output(common.json);
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  v1::PurgeElectionsRequest request;
  request.set_prefix(options.prefix);
  *request.mutable_unused_for() = ToProto(options.unused_for.value());
  request.set_dry_run(options.dry_run);
  request.set_reason(options.reason);
  const std::string outcome = options.dry_run ? "WOULD_BE_PURGED" : "PURGED";
  const std::string done = options.dry_run ? "would be purged" : "purged";
  Paging paging;
  const auto status =
      CallForPages(connection, &Admin::PurgeElections, request, paging,
                   [&](const v1::PurgeElectionsResponse& page) {
                     for (const std::string& name : page.elections()) {
                       output.Line({{"election", name}, {"outcome", outcome}}, name + ": " + done);
                     }
                     return static_cast<uint64_t>(page.elections().size());
                   });
  if (!status.ok()) return Output::Complain(status);
  if (!output.json()) {
    output.Text(std::to_string(paging.taken) + (paging.taken == 1 ? " election " : " elections ") +
                done);
  }
  return EXIT_SUCCESS;
}

int RunEndSession(const CommonOptions& common, const EndSessionOptions& options) {
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  v1::EndSessionRequest request;
  request.set_handle(options.handle);
  request.set_reason(options.reason);
  v1::EndSessionResponse response;
  const auto status = Call(connection, &Admin::EndSession, request, &response);
  if (!status.ok()) return Output::Complain(status);
  const std::string cause = Word(response.cause());
  Output(common.json)
      .Line({{"outcome", response.ended() ? "ENDED" : "ENDED_ALREADY"},
             {"session", options.handle},
             {"cause", cause}},
            options.handle + ": " +
                (response.ended() ? "ended" : "had already ended (" + cause + ")"));
  return EXIT_SUCCESS;
}

}  // namespace tenure
