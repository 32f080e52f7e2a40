#include "tests/support/database_server.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <fstream>

#include <csignal>
#include <cstdlib>

namespace tenure::testing {
namespace {

// Root may come from any host.
constexpr char kUsers[] =
    "FLUSH PRIVILEGES;\n"
    "CREATE USER root@'%';\n"
    "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n";

std::string MySqlRoot() {
  const char* root = std::getenv("TENURE_TEST_MYSQL_ROOT");
  return root == nullptr ? "" : root;
}

// Flags of a MariaDB that does not wait for the disk. What it has answered survives the server, but
// not the machine. MySQL has no such flags.
std::vector<std::string> SyncFlags(bool mysql) {
  const char* const sync = std::getenv("TENURE_TEST_SYNC");
  if (mysql || sync == nullptr || std::string(sync) != "off") return {};
  return {"--debug-no-sync", "--innodb-flush-method=nosync", "--innodb-log-file-buffering=ON"};
}

std::filesystem::path FolderParent(const std::string& root) {
  return root.empty() ? std::filesystem::temp_directory_path()
                      : std::filesystem::path(root) / "tmp";
}

}  // namespace

DatabaseServer::DatabaseServer()
    : DatabaseServer(MySqlRoot().empty() ? Engine::kMariaDb : Engine::kMySql) {
  Start();
}

DatabaseServer::DatabaseServer(Engine engine, Host host, const std::filesystem::path& parent)
    : root_(engine == Engine::kMySql ? MySqlRoot() : ""),
      host_(std::move(host)),
      folder_(parent.empty() ? FolderParent(root_) : parent),
      port_(FreePort()),
      sync_flags_(SyncFlags(!root_.empty())) {
  const std::string users = WriteFile("users.sql", kUsers);
  std::vector<std::string> command;
  if (root_.empty()) {
    command = {"mariadb-install-db", "--no-defaults", "--skip-test-db",
               "--auth-root-authentication-method=normal", "--extra-file=" + users};
  } else {
    command = {"chroot",
               root_,
               "mysqld",
               "--no-defaults",
               "--initialize-insecure",
               "--user=root",
               "--init-file=" + users};
  }
  command.push_back("--datadir=" + Inside("data"));
  command.insert(command.end(), sync_flags_.begin(), sync_flags_.end());
  const Finished initialised = RunToEnd(command, Environment());
  EXPECT_EQ(initialised.exit_code, 0) << initialised.output << initialised.errors;
}

std::string DatabaseServer::Inside(const std::string& name) const {
  const auto folder = root_.empty() ? folder_.path() : "/tmp" / folder_.path().filename();
  return (folder / name).string();
}

// A server that starts deletes what looks like left-over temporary tables in its TMPDIR, and so
// those of every other server that has the same.
std::map<std::string, std::string> DatabaseServer::Environment() const {
  return {{"TMPDIR", Inside("")}};
}

void DatabaseServer::Kill() {
  process_->Signal(SIGKILL);
  process_->Wait();
}

void DatabaseServer::Stop() {
  process_->Signal(SIGTERM);
  process_->Wait();
}

void DatabaseServer::StartWith(std::vector<std::string> flags) {
  flags_ = std::move(flags);
  Start();
}

void DatabaseServer::RestartWith(std::vector<std::string> flags) {
  Stop();
  StartWith(std::move(flags));
}

void DatabaseServer::SetClock(std::chrono::seconds ahead) {
  settable_clock_ = true;
  const auto path = folder_.path() / "clock";
  std::ofstream(path.string() + ".new") << std::showpos << ahead.count() << "\n";
  std::filesystem::rename(path.string() + ".new", path);
}

std::string DatabaseServer::WriteFile(const std::string& name, const std::string& content) const {
  std::ofstream(folder_.path() / name) << content;
  return Inside(name);
}

void DatabaseServer::Start() {
  const std::string port = "--port=" + std::to_string(port_);
  std::vector<std::string> command;
  if (root_.empty()) {
    command = {"mariadbd", "--no-defaults", "--datadir=" + Inside("data"),
               "--socket=" + Inside("socket")};
  } else {
    command = {"chroot",
               root_,
               "mysqld",
               "--no-defaults",
               "--mysqlx=OFF",
               "--secure-file-priv=NULL",
               "--datadir=" + Inside("data"),
               "--socket=" + Inside("socket")};
  }
  command.insert(command.end(), {port, "--bind-address=" + host_.address, "--skip-name-resolve",
                                 "--max-connections=500"});
  if (getuid() == 0) command.emplace_back("--user=root");
  command.insert(command.end(), sync_flags_.begin(), sync_flags_.end());
  command.insert(command.end(), flags_.begin(), flags_.end());
  std::map<std::string, std::string> environment = Environment();
  if (settable_clock_) {
    environment.insert({{"LD_PRELOAD", "/usr/$LIB/faketime/libfaketimeMT.so.1"},
                        {"FAKETIME_TIMESTAMP_FILE", Inside("clock")},
                        {"FAKETIME_NO_CACHE", "1"},
                        {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}});
  }
  process_ = std::make_unique<Process>(host_.CommandLine(command), environment);
  // A node of Galera that comes back before the others have given it up joins them only afterwards.
  const bool answers = Eventually([&] { return Query("SELECT 1").exit_code == 0; }, 3 * kPatience);
  EXPECT_TRUE(answers) << process_->Output() << process_->Errors();
}

std::string DatabaseServer::FreshDatabase(const std::string& name) {
  const Finished made = Query("DROP DATABASE IF EXISTS " + name + "; CREATE DATABASE " + name);
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  return "mysql://root@" + address() + "/" + name;
}

void DatabaseServer::Dump(const std::string& name, const std::filesystem::path& file) const {
  const Finished dumped = Run("mariadb-dump", {"--single-transaction", "--routines",
                                               "--result-file=" + file.string(), name});
  EXPECT_EQ(dumped.exit_code, 0) << dumped.errors;
}

void DatabaseServer::Restore(const std::string& name, const std::filesystem::path& file) {
  FreshDatabase(name);
  const Finished restored =
      Run("mariadb", {"--database=" + name, "--execute=SOURCE " + file.string()});
  EXPECT_EQ(restored.exit_code, 0) << restored.errors;
}

void DatabaseServer::EndConnections(const std::string& name) const {
  // One may have ended by itself.
  Query(
      Ask("SELECT COALESCE(GROUP_CONCAT('KILL ', id SEPARATOR '; '), 'SELECT 1')"
          " FROM information_schema.processlist WHERE db = '" +
          name + "'"));
}

Finished DatabaseServer::Query(const std::string& sql, std::chrono::milliseconds patience) const {
  return Run("mariadb", {"--batch", "--skip-column-names", "--execute=" + sql}, patience);
}

std::string DatabaseServer::Ask(const std::string& sql) const {
  const Finished answered = Query(sql);
  EXPECT_EQ(answered.exit_code, 0) << sql << ": " << answered.errors;
  return answered.output.substr(0, answered.output.find_last_not_of('\n') + 1);
}

Finished DatabaseServer::Run(const std::string& program, const std::vector<std::string>& arguments,
                             std::chrono::milliseconds patience) const {
  std::vector<std::string> command = {
      program,       "--no-defaults",           "--ssl",
      "--user=root", "--host=" + host_.address, "--port=" + std::to_string(port_)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunToEnd(std::move(command), {}, patience);
}

}  // namespace tenure::testing
