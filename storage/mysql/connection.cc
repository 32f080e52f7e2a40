#include "storage/mysql/connection.h"

#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <new>
#include <string_view>
#include <utility>

#include "storage/mysql/answer_limit.h"
#include "storage/mysql/login_gate.h"
#include "storage/mysql/session.h"
#include "storage/mysql/sql.h"

namespace tenure::mysql {
namespace {

constexpr int kConnectTimeoutSeconds = 2;
constexpr int kReadTimeoutSeconds = 8;
constexpr int kAccessDenied = 1045;
constexpr int kCannotConnect = 2002;
constexpr int kTlsError = 2026;
constexpr int kPluginNotAllowed = 5010;
// More than any row, any answer to a login, and any other answer.
constexpr int kPacketMaxBytes = 32 << 20;
constexpr size_t kLoginMaxBytes = size_t{1} << 20;
constexpr size_t kAnswerMaxBytes = size_t{128} << 20;
constexpr int kErrorDuringCommit = 1180;
// The handler's error inside of it: a deadlock, which has rolled the transaction back.
constexpr char kDeadlockDuringCommit[] = "error 149 ";

// The error numbers are those of MySQL's and MariaDB's manuals.
MySqlError::Kind KindOf(int code, std::string_view text) {
  switch (code) {
    case 1062:  // duplicate key: another transaction made the row first
    case 1020:  // record has changed since last read (MariaDB 11, Galera)
    case 1205:  // lock wait timeout
    case 1213:  // deadlock, or certification failure of Galera
    case 3101:  // certification failure of Group Replication
    case 3572:  // NOWAIT
      return MySqlError::Kind::kConflict;
    case 0:     // the Connector's own: the connection is closed
    case 1040:  // too many connections
    case 1053:  // shutdown in progress
    case 1079:  // normal shutdown
    case 1104:  // a limit on the rows of a join
    case 1152:  // aborted connection
    case 1158:
    case 1159:
    case 1160:
    case 1161:                // packets that were not read or written
    case kErrorDuringCommit:  // nobody knows what became of it
    case 1175:                // safe updates
    case 1665:                // the session's log format
    case 1792:                // the transaction is read only
    case 1927:                // connection was killed
    case 4031:                // disconnected for inactivity
    case 5013:
    case 5014:
    case 5015:  // MariaDB's client library: cannot read, write or uncompress
      return MySqlError::Kind::kAway;
    case 1290:  // an option forbids it: read_only, or a limit on the session's memory
      return text.find("max-session-mem-used") == std::string_view::npos ? MySqlError::Kind::kUnfit
                                                                         : MySqlError::Kind::kAway;
    case 1047:  // Galera: node is not ready
    case 1836:  // read only
    case 3100:
    case 3168:  // Group Replication: before_commit hook, not primary
      return MySqlError::Kind::kUnfit;
    default:
      return code >= 2000 && code < 3000 ? MySqlError::Kind::kAway : MySqlError::Kind::kOther;
  }
}

MySqlError Translate(const sql::SQLException& error) {
  const int code = error.getErrorCode();
  const std::string text = error.what();
  const bool deadlock =
      code == kErrorDuringCommit && text.find(kDeadlockDuringCommit) != std::string::npos;
  return {deadlock ? MySqlError::Kind::kConflict : KindOf(code, text), code,
          "MySQL error " + std::to_string(code) + ": " + text};
}

// The Connector's errors as ours.
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

// What is wrong with a refused certificate, in the operator's words.
std::string WhyTlsFailed(const std::string& error, const std::string& host, const Tls& tls) {
  const auto says = [&](const char* text) { return error.find(text) != std::string::npos; };
  if (says("certificate has expired")) return "the server's certificate has expired";
  if (says("not yet valid")) return "the server's certificate is not valid yet";
  if (says("Validation of SSL server certificate failed")) {
    return "the server's certificate is for another host than " + host;
  }
  if (says("self-signed certificate") || says("issuer certificate")) {
    return "the server's certificate is not signed by " + tls.ca;
  }
  return error;
}

MySqlError TranslateFailedLogin(const sql::SQLException& error, const Config& config,
                                const std::string& host, const LoginGate& gate) {
  const MySqlError failure = Translate(error);
  const auto because = [&](int code, const std::string& why) {
    return MySqlError(MySqlError::Kind::kAway, code, why);
  };
  if (!gate.refusal().empty()) {
    return because(kTlsError, fmt::format("no TLS connection to {}: {}", host, gate.refusal()));
  }
  switch (failure.code) {
    case kCannotConnect:
      // EINPROGRESS: libmariadb does not keep why the connection failed then.
      if (!std::string_view(failure.what()).ends_with("(115)")) return failure;
      return because(failure.code, "connection refused, or no route to the host (error 2002)");
    case kTlsError:
      return because(failure.code, fmt::format("no TLS connection to {}: {}", host,
                                               WhyTlsFailed(error.what(), host, config.tls)));
    case kPluginNotAllowed:
      return because(failure.code,
                     fmt::format("{} asks for a password in a way in which it is not sent without "
                                 "TLS: {}",
                                 host, error.what()));
    case kAccessDenied:
      return because(
          failure.code,
          fmt::format("cannot log in to {} as '{}': {}; check the password ({}), and for a user "
                      "with REQUIRE SSL or REQUIRE X509 also tls, tls-cert and tls-key of the "
                      "store's URL",
                      host, config.user, failure.what(),
                      config.password_file.empty() ? "TENURE_STORE_PASSWORD or "
                                                     "--store-password-file"
                                                   : config.password_file));
    default: return {MySqlError::Kind::kAway, failure.code, failure.what()};
  }
}

// Of what a statement of the session may use.
bool IsLimit(int code) {
  return code == 1104 || code == 1290 || code == 1969 || code == 3024;  // rows, memory, time
}

void SetTls(sql::ConnectOptionsMap& options, const Tls& tls) {
  if (tls.mode == Tls::Mode::kDisabled) return;
  options["sslEnforce"] = true;  // which means that TLS is used if the server offers it
  const std::pair<const char*, const std::string&> files[] = {
      {"sslCA", tls.ca}, {"sslCert", tls.certificate}, {"sslKey", tls.key}};
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    if (!std::ifstream(path)) {
      throw MySqlError(MySqlError::Kind::kAway, 0, "cannot read '" + path + "'");
    }
    options[option] = sql::SQLString(path);
  }
  if (tls.mode == Tls::Mode::kVerifyIdentity) options["sslVerify"] = true;
}

std::unique_ptr<sql::Connection> Connect(const Config& config, const Address& address,
                                         const std::string& password, const LoginGate& gate) {
  static sql::Driver* const driver = get_driver_instance();  // made once, by one thread
  sql::ConnectOptionsMap options;
  if (config.socket.empty()) {
    options["hostName"] = sql::SQLString("tcp://" + address.host);
    options["port"] = static_cast<int>(address.port);
  } else {
    options["hostName"] = sql::SQLString("unix://" + config.socket);
  }
  options["userName"] = sql::SQLString(config.user);
  options["password"] = sql::SQLString(password);
  options["schema"] = sql::SQLString(config.database);
  options["OPT_CONNECT_TIMEOUT"] = kConnectTimeoutSeconds;
  options["OPT_READ_TIMEOUT"] = kReadTimeoutSeconds;
  options["OPT_WRITE_TIMEOUT"] = kReadTimeoutSeconds;
  options["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
  options["CLIENT_MULTI_STATEMENTS"] = true;
  options["OPT_MAX_ALLOWED_PACKET"] = kPacketMaxBytes;
  const std::string& gate_file = LoginGate::OptionFile();
  if (!std::ifstream(gate_file)) {
    throw MySqlError(MySqlError::Kind::kAway, 0,
                     "cannot read '" + gate_file + "', which a login needs: is /proc mounted?");
  }
  options["readDefaultFile"] = sql::SQLString(gate_file);
  SetTls(options, config.tls);
  const auto connect = [&] { return std::unique_ptr<sql::Connection>(driver->connect(options)); };
  try {
    try {
      return connect();
    } catch (const sql::SQLException& error) {
      if (!IsLimit(error.getErrorCode())) throw;
      // The driver asks before we can. What comes with its login has less time than a statement.
      options["preInit"] = kFirstOfSession;
      return connect();
    }
  } catch (const sql::SQLException& error) {
    throw TranslateFailedLogin(error, config, address.host, gate);
  }
}

// The rows of the result that is next. The driver has read them all: it would not report an error
// of the server amid rows that are read one by one.
Rows Fetch(sql::Statement& statement) {
  const std::unique_ptr<sql::ResultSet> result(statement.getResultSet());
  if (result == nullptr) {
    throw MySqlError(MySqlError::Kind::kAway, 0, "the server's answer has no rows where it should");
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

tl::expected<std::string, std::string> ReadPassword(const std::string& file) {
  std::ifstream stream(file);
  std::string password;
  if (!stream || (!std::getline(stream, password) && !stream.eof())) {
    return tl::unexpected("cannot read '" + file + "'");
  }
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

std::string PasswordOf(const Config& config) {
  if (config.password_file.empty()) return config.password;
  const auto password = ReadPassword(config.password_file);
  if (!password) throw MySqlError(MySqlError::Kind::kAway, 0, password.error());
  return *password;
}

Connection::Connection(const Config& config, const Address& address, const std::string& password)
    : address_(address) {
  {
    AllowAnswerOf(kLoginMaxBytes);
    const LoginGate gate(config.tls.mode >= Tls::Mode::kRequired);
    connection_ = Connect(config, address, password, gate);
    if (!gate.passed()) {
      throw MySqlError(MySqlError::Kind::kAway, 0,
                       "the client library has not asked Tenure before it logged in to " +
                           address.host + ", so the connection is not used");
    }
  }
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
  return Send(message, statements.size());
}

std::optional<Rows> Connection::Call(const std::string& call) {
  try {
    return std::move(Send(call, 2)[0]);  // the second result says that the procedure has ended
  } catch (const MySqlError& error) {
    switch (error.code) {
      case 1305:  // there is no such procedure
      case 1370:  // the user may not execute it
        callable_ = false;
        return std::nullopt;
      case 1317:  // KILL QUERY
      case 1969:
      case 3024:  // a limit of the server's on the time of a statement
        throw MySqlError(MySqlError::Kind::kAway, error.code, error.what());
      default: throw;
    }
  }
}

std::vector<Rows> Connection::Send(const std::string& message, size_t results_count) {
  AllowAnswerOf(kAnswerMaxBytes);
  return Translating([&] {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    std::vector<Rows> results;
    results.reserve(results_count);
    bool has_rows = statement->execute(message);
    while (true) {
      results.push_back(has_rows ? Fetch(*statement) : Rows());
      if (results.size() == results_count) return results;
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
