// `tenure list` and `tenure sessions`.
#include "client/tool/admin_commands.h"
#include "client/tool/election_text.h"
#include "client/tool/listing.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "proto/time.h"

namespace tenure {
namespace {

constexpr int kNamesShown = 3;

Json SessionJson(const v1::SessionInfo& session) {
  return {{"session", session.handle()},
          {"candidate", session.candidate()},
          {"open_time", TimeJson(true, session.open_time())},
          {"lease_ttl_ms", MillisOf(session.lease_ttl())},
          {"lease_left_ms", MillisOf(session.lease_left())},
          {"leads", std::vector<std::string>(session.leads().begin(), session.leads().end())},
          {"waits", std::vector<std::string>(session.waits().begin(), session.waits().end())}};
}

// "a, b, c and 4 more"
std::string FirstOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (int i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kNamesShown) {
    text += " and " + std::to_string(names.size() - kNamesShown) + " more";
  }
  return text.empty() ? "-" : text;
}

std::vector<std::string> SessionCells(const v1::SessionInfo& session) {
  return {session.handle(),
          session.candidate(),
          AgeText(WallClock() - FromProto(session.open_time())),
          AgeText(DurationOf(session.lease_ttl())),
          LeftText(DurationOf(session.lease_left())),
          FirstOf(session.leads()),
          FirstOf(session.waits())};
}

}  // namespace

int RunList(const CommonOptions& common, const ListOptions& options) {
  const Output output(common.json);
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  v1::ListElectionsRequest request;
  request.set_prefix(options.prefix);
  Listing<v1::Election> elections(
      output,
      {.columns = ElectionColumns(),
       .cells = [](const v1::Election& election) { return ElectionCells(election, WallClock()); },
       .json = [](const v1::Election& election) { return ToJson(election); }},
      options.limit);
  const auto status = elections.Fetch(connection, &v1::AdminService::Stub::ListElections,
                                      &v1::ListElectionsResponse::elections, request);
  if (!status.ok()) return Output::Complain(status);
  elections.Show("no elections");
  return EXIT_SUCCESS;
}

int RunSessions(const CommonOptions& common, const ListOptions& options) {
  const Output output(common.json);
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  v1::ListSessionsRequest request;
  request.set_candidate_prefix(options.prefix);
  Listing<v1::SessionInfo> sessions(output,
                                    {.columns = {{.title = "SESSION"},
                                                 {.title = "CANDIDATE", .width_max = 40},
                                                 {.title = "OPEN FOR", .align = Align::kRight},
                                                 {.title = "LEASE", .align = Align::kRight},
                                                 {.title = "LEFT", .align = Align::kRight},
                                                 {.title = "LEADS", .width_max = 60},
                                                 {.title = "WAITS FOR", .width_max = 60}},
                                     .cells = SessionCells,
                                     .json = SessionJson},
                                    options.limit);
  const auto status = sessions.Fetch(connection, &v1::AdminService::Stub::ListSessions,
                                     &v1::ListSessionsResponse::sessions, request);
  if (!status.ok()) return Output::Complain(status);
  sessions.Show("no sessions");
  return EXIT_SUCCESS;
}

}  // namespace tenure
