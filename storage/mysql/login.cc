#include "storage/mysql/login.h"

#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "storage/mysql/answer_limit.h"
#include "storage/mysql/error.h"
#include "storage/mysql/login_gate.h"
#include "storage/mysql/session.h"
#include "tls/pem_files.h"

namespace tenure::mysql {
namespace {

constexpr int kConnectTimeoutSeconds = 2;
constexpr int kReadTimeoutSeconds = 8;
constexpr int kAccessDenied = 1045;
constexpr int kCannotConnect = 2002;
constexpr int kTlsError = 2026;
constexpr int kPluginNotAllowed = 5010;
// More than any row, and any answer to a login.
constexpr int kPacketMaxBytes = 32 << 20;
constexpr size_t kLoginMaxBytes = size_t{1} << 20;

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
      // EINPROGRESS: libmariadb does not keep the reason of the failure.
      if (!std::string_view(failure.what()).ends_with("(115)")) return failure;
      return because(failure.code, "connection refused, or no route to the host (error 2002)");
    case kTlsError:
      return because(failure.code, fmt::format("no TLS connection to {}: {}", host,
                                               WhyTlsFailed(error.what(), host, config.tls)));
    case kPluginNotAllowed:
      return because(failure.code,
                     fmt::format("{} asks for the password by a method that is refused without "
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

// An error about a limit on what the session's statements may use.
bool IsLimit(int code) {
  return code == 1104 || code == 1290 || code == 1969 || code == 3024;  // rows, memory, time
}

void SetTls(sql::ConnectOptionsMap& options, const Tls& tls) {
  if (tls.mode == Tls::Mode::kDisabled) return;
  if (const auto fault = FaultOfFiles(tls)) throw MySqlError(MySqlError::Kind::kAway, 0, *fault);
  options["sslEnforce"] = true;  // uses TLS if the server offers it
  const std::pair<const char*, const std::string&> files[] = {
      {"sslCA", tls.ca}, {"sslCert", tls.certificate}, {"sslKey", tls.key}};
  for (const auto& [option, path] : files) {
    if (!path.empty()) options[option] = sql::SQLString(path);
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
      // The driver runs queries of its own before ours. Only now, because preInit has less time
      // than a statement.
      options["preInit"] = kFirstOfSession;
      AllowAnswerOf(kLoginMaxBytes);
      return connect();
    }
  } catch (const sql::SQLException& error) {
    throw TranslateFailedLogin(error, config, address.host, gate);
  }
}

}  // namespace

std::optional<std::string> FaultOfFiles(const Tls& tls) {
  for (const std::string& path : {tls.ca, tls.certificate}) {
    auto fault = path.empty() ? std::nullopt : tls::FaultOfCertificates(path);
    if (fault) return fault;
  }
  return tls.key.empty() ? std::nullopt : tls::FaultOfKey(tls.key);
}

tl::expected<std::string, std::string> ReadPassword(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored)) {
    return tl::unexpected("'" + file + "' is a pipe; use a file, since it is read more than once");
  }
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

std::unique_ptr<sql::Connection> LogIn(const Config& config, const Address& address,
                                       const std::string& password) {
  AllowAnswerOf(kLoginMaxBytes);
  const LoginGate gate(config.tls.mode >= Tls::Mode::kRequired);
  std::unique_ptr<sql::Connection> connection = Connect(config, address, password, gate);
  if (!gate.passed()) {
    throw MySqlError(MySqlError::Kind::kAway, 0,
                     "the client library has not asked Tenure before it logged in to " +
                         address.host + ", so the connection is not used");
  }
  return connection;
}

}  // namespace tenure::mysql
