#include "storage/mysql/connection.h"

#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <new>
#include <utility>

#include "storage/mysql/answer_limit.h"
#include "storage/mysql/session.h"
#include "storage/mysql/sql.h"

namespace tenure::mysql {
namespace {

// More than any answer, except those to a login.
constexpr size_t kAnswerMaxBytes = size_t{128} << 20;

// Converts the Connector's errors to ours.
template <typename Ask>
auto Translating(Ask ask) {
  try {
    return ask();
  } catch (const sql::SQLException& error) {
    throw Translate(error);
  } catch (const std::bad_alloc& error) {  // what was sent may have been done
    throw MySqlError(MySqlError::Kind::kAway, 0, error.what());
  }
}

// The rows of the next result. The driver has read them all: it would not report a server's error
// in the middle of rows that are read one by one.
Rows Fetch(sql::Statement& statement) {
  const std::unique_ptr<sql::ResultSet> result(statement.getResultSet());
  if (result == nullptr) {
    throw MySqlError(MySqlError::Kind::kAway, 0,
                     "the server's answer lacks rows that it should have");
  }
  Rows rows;
  size_t bytes = 0;  // of memory
  const unsigned columns = result->getMetaData()->getColumnCount();
  while (result->next()) {
    Row& row = rows.emplace_back(columns);
    for (unsigned i = 0; i < columns; ++i) {
      const sql::SQLString cell = result->getString(i + 1);
      if (!result->wasNull()) row[i].emplace(cell.c_str(), cell.length());
      bytes += sizeof(Cell) + cell.length();
    }
    bytes += sizeof(Row);
    if (bytes > 2 * kAnswerMaxBytes) {
      throw MySqlError(MySqlError::Kind::kAway, 0, "the server's answer is too large");
    }
  }
  return rows;
}

// Names in lower case: the two engines differ in that.
std::map<std::string, std::string> ToMap(const Rows& rows) {
  std::map<std::string, std::string> map;
  for (const Row& row : rows) {
    std::string name = row.at(0).value_or("");
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    map[name] = row.at(1).value_or("");
  }
  return map;
}

}  // namespace

Connection::Connection(const Config& config, const Address& address, const std::string& password)
    : address_(address), connection_(LogIn(config, address, password)) {
  const ServerFacts facts = AskForFacts({kFirstOfSession});
  server_ = Describe(facts);
  if (server_.refusal.empty()) SetUp(facts);
}

void Connection::SetUp(const ServerFacts& facts) {
  const SessionSetup setup = SetUpSession(facts.session, server_);
  Run(setup.statements);
  for (const PrivilegedSetting& setting : setup.privileged) {
    try {
      Run({setting.statement});
    } catch (const MySqlError& error) {
      throw MySqlError(MySqlError::Kind::kAway, error.code,
                       fmt::format("{} is {}, and cannot be changed for Tenure's sessions: {}; "
                                   "change it for the whole server, or give Tenure's user the "
                                   "privilege",
                                   setting.name, setting.value, error.what()));
    }
  }
}

void Connection::AskAgain() {
  server_ = Describe(AskForFacts());
  if (server_.refusal.empty()) return;
  throw MySqlError(MySqlError::Kind::kUnfit, 0, server_.name + " is not used: " + server_.refusal);
}

ServerFacts Connection::AskForFacts(std::vector<std::string> first) {
  const size_t at = first.size();
  std::vector<std::string> statements = std::move(first);
  for (const std::string& question : {std::string(query::kServerVariables),
                                      std::string(query::kServerStatus), SessionVariables()}) {
    statements.push_back(question);
  }
  const std::vector<Rows> answers = Run(statements);
  ServerFacts facts{ToMap(answers[at]), ToMap(answers[at + 1])};
  facts.session = ToMap(answers[at + 2]);
  if (IsSemiSynchronous(facts)) {
    const Rows grants = Run({query::kGrants})[0];
    facts.writes_always = std::ranges::any_of(
        grants, [](const Row& row) { return MayWriteAlways(row.at(0).value_or("")); });
  }
  if (!InGroupReplication(facts)) return facts;
  const Rows members = Run({query::kGroupMembers})[0];
  for (const Row& row : members) {
    facts.group.push_back({row.at(0).value_or(""), row.at(1).value_or(""), row.at(2).value_or("")});
  }
  return facts;
}

Connection::~Connection() = default;

void Connection::CheckWritable() { CheckWritable(Run({query::kReadOnly})[0].at(0).at(0)); }

void Connection::CheckWritable(const Cell& read_only) {
  if (read_only != "0" && read_only != "OFF") {
    throw MySqlError(MySqlError::Kind::kUnfit, 1290, "the database is read-only");
  }
}

std::vector<Rows> Connection::Run(const std::vector<std::string>& statements) {
  if (server_.engine != Engine::kGalera) return RunInOneMessage(statements);
  std::vector<Rows> results;
  for (const std::string& statement : statements) {
    results.push_back(std::move(RunInOneMessage({statement})[0]));
  }
  return results;
}

std::vector<Rows> Connection::RunInOneMessage(const std::vector<std::string>& statements) {
  std::string message;
  for (const std::string& statement : statements) message.append(statement).append(";");
  if (!message.empty()) message.pop_back();
  AllowAnswerOf(kAnswerMaxBytes);
  return Translating([&] {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    std::vector<Rows> results;
    results.reserve(statements.size());
    bool has_rows = statement->execute(message);
    while (true) {
      results.push_back(has_rows ? Fetch(*statement) : Rows());
      if (results.size() == statements.size()) return results;
      has_rows = statement->getMoreResults();
    }
  });
}

uint64_t Connection::Change(const std::string& statement) {
  AllowAnswerOf(kAnswerMaxBytes);
  return Translating([&] {
    const std::unique_ptr<sql::Statement> change(connection_->createStatement());
    return static_cast<uint64_t>(change->executeUpdate(statement));
  });
}

}  // namespace tenure::mysql
