#include "client/tool/admin_commands.h"
#include "client/tool/election_text.h"
#include "client/tool/listing.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "client/tool/words.h"
#include "proto/time.h"

namespace tenure {
namespace {

Json TermJson(const v1::TermRecord& term) {
  const bool ended = term.has_end_time();
  return {{"record", "term"},
          {"term", term.term()},
          {"candidate", term.candidate()},
          {"start_time", TimeJson(true, term.start_time())},
          {"end_time", TimeJson(ended, term.end_time())},
          {"cause", ended ? Json(Word(term.cause())) : Json(nullptr)}};
}

Json ChangeJson(const v1::Change& change) {
  const bool of_election = !change.election().empty();
  return {{"record", "change"},
          {"election", of_election ? Json(change.election()) : Json(nullptr)},
          {"action", Word(change.action())},
          {"term", change.term()},
          {"time", TimeJson(true, change.time())},
          {"detail", change.detail()},
          {"identity", change.identity()},
          {"reason", change.reason()}};
}

std::vector<std::string> TermCells(const v1::TermRecord& term) {
  const bool ended = term.has_end_time();
  const DbTime start = FromProto(term.start_time());
  const DbTime end = ended ? FromProto(term.end_time()) : WallClock();
  return {std::to_string(term.term()),  term.candidate(),     LocalText(start),
          ended ? LocalText(end) : "-", AgeText(end - start), ended ? Word(term.cause()) : "leads"};
}

std::vector<Column> TermColumns() {
  return {{.title = "TERM", .align = Align::kRight},
          {.title = "LEADER", .width_max = 40},
          {.title = "FROM"},
          {.title = "TO"},
          {.title = "LED FOR", .align = Align::kRight},
          {.title = "END"}};
}

std::vector<Column> ChangeColumns(bool of_all) {
  std::vector<Column> columns = {{.title = "TIME"},
                                 {.title = "CHANGE"},
                                 {.title = "TERM", .align = Align::kRight},
                                 {.title = "WHAT", .width_max = 60},
                                 {.title = "BY", .width_max = 40},
                                 {.title = "REASON", .width_max = 60}};
  if (of_all) columns.insert(columns.begin() + 1, {.title = "ELECTION", .width_max = 60});
  return columns;
}

std::vector<std::string> ChangeCells(const v1::Change& change, bool of_all) {
  const bool of_election = !change.election().empty();
  std::vector<std::string> cells = {LocalText(FromProto(change.time())),
                                    Word(change.action()),
                                    of_election ? std::to_string(change.term()) : "-",
                                    change.detail(),
                                    change.identity(),
                                    change.reason()};
  if (of_all) cells.insert(cells.begin() + 1, of_election ? change.election() : "-");
  return cells;
}

// Tells an election without history from one that does not exist, which is an error.
grpc::Status LookFor(const std::string& election, Connection& connection) {
  v1::DescribeElectionRequest request;
  request.set_election(election);
  request.set_page_size(1);
  v1::DescribeElectionResponse response;
  return Call(connection, &v1::AdminService::Stub::DescribeElection, request, &response);
}

}  // namespace

int RunHistory(const CommonOptions& common, const HistoryOptions& options) {
  const Output output(common.json);
  Connection connection(common.endpoints, common.Credentials(), HealthCheck::kOff,
                        common.service_id);
  const bool of_all = options.election.empty();

  Listing<v1::TermRecord> terms(
      output, {.columns = TermColumns(), .cells = TermCells, .json = TermJson}, options.limit);
  if (!of_all) {
    v1::ListTermsRequest request;
    request.set_election(options.election);
    const auto status = terms.Fetch(connection, &v1::AdminService::Stub::ListTerms,
                                    &v1::ListTermsResponse::terms, request);
    if (!status.ok()) return Output::Complain(status);
  }

  Listing<v1::Change> changes(
      output,
      {.columns = ChangeColumns(of_all),
       .cells = [&](const v1::Change& change) { return ChangeCells(change, of_all); },
       .json = ChangeJson},
      options.limit);
  v1::ListChangesRequest request;
  request.set_election(options.election);
  auto status = changes.Fetch(connection, &v1::AdminService::Stub::ListChanges,
                              &v1::ListChangesResponse::changes, request);
  if (status.ok() && !of_all && terms.empty() && changes.empty()) {
    status = LookFor(options.election, connection);
  }
  if (!status.ok()) return Output::Complain(status);

  if (!of_all) {
    terms.Show("no terms");
    if (!output.json()) output.Text("");
  }
  changes.Show("no changes by operators");
  return EXIT_SUCCESS;
}

}  // namespace tenure
