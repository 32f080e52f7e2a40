#include "bench/systems/servers.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "bench/report/gauges.h"

namespace tenure::bench {
namespace {

using testing::Eventually;
using testing::FreePort;
using testing::Process;
using testing::RunToEnd;

constexpr char kZooKeeperJar[] = "/usr/share/java/zookeeper.jar";

std::string Loopback(int port) { return "127.0.0.1:" + std::to_string(port); }

bool Accepts(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool accepts =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return accepts;
}

void WaitUntilItServes(Process& process, int port, const std::string& name) {
  const bool ended = !Eventually([&] { return Accepts(port) || !process.Running(); });
  if (ended || !process.Running()) {
    throw std::runtime_error(name + " does not start: " + process.Output() + process.Errors());
  }
}

std::chrono::microseconds CpuTimeOf(const Process& process) { return ProcessorTime(process.pid()); }

std::vector<std::string> EtcdCommand(const std::string& program, int port,
                                     const std::filesystem::path& folder) {
  const std::string client = "http://" + Loopback(port);
  const std::string peer = "http://" + Loopback(FreePort());
  return {program,
          "--data-dir=" + (folder / "data").string(),
          "--listen-client-urls=" + client,
          "--advertise-client-urls=" + client,
          "--listen-peer-urls=" + peer,
          "--initial-advertise-peer-urls=" + peer,
          "--initial-cluster=default=" + peer};
}

std::vector<std::string> ZooKeeperCommand(int port, const std::filesystem::path& folder) {
  const std::string file = (folder / "zoo.cfg").string();
  std::ofstream(file) << "tickTime=2000\n"
                      << "dataDir=" << (folder / "data").string() << "\n"
                      << "clientPort=" << port << "\n"
                      << "clientPortAddress=127.0.0.1\n"
                      << "maxClientCnxns=0\n"
                      << "admin.enableServer=false\n";
  return {"java", "-cp", kZooKeeperJar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file};
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

EtcdServer::EtcdServer(const std::string& program)
    : program_(program), port_(FreePort()), process_(EtcdCommand(program, port_, folder_.path())) {
  WaitUntilItServes(process_, port_, "etcd");
}

std::string EtcdServer::endpoint() const { return Loopback(port_); }

std::string EtcdServer::configuration() {
  return FirstLine(RunToEnd({program_, "--version"}).output) +
         "; one member, all settings as shipped: each write is in the synced log before its answer";
}

CpuTimes EtcdServer::CpuTime() { return {{"etcd", CpuTimeOf(process_)}}; }

ZooKeeperServer::ZooKeeperServer()
    : port_(FreePort()), process_(ZooKeeperCommand(port_, folder_.path())) {
  WaitUntilItServes(process_, port_, "ZooKeeper");
}

std::string ZooKeeperServer::endpoint() const { return Loopback(port_); }

std::string ZooKeeperServer::configuration() {
  const auto version =
      RunToEnd({"java", "-cp", kZooKeeperJar, "org.apache.zookeeper.version.VersionInfoMain"});
  return FirstLine(version.output) +
         "; one server, as shipped (forceSync=yes, tickTime=2000, the JVM's defaults), but "
         "maxClientCnxns=0, since all clients come from one address, and without its HTTP server";
}

CpuTimes ZooKeeperServer::CpuTime() { return {{"ZooKeeper", CpuTimeOf(process_)}}; }

std::unique_ptr<testing::DatabaseServer> StartMySql(const std::string& root) {
  constexpr char kRoot[] = "TENURE_TEST_MYSQL_ROOT";  // read by the support of the tests
  if (!std::filesystem::exists(std::filesystem::path(root) / "usr/sbin/mysqld")) {
    throw std::runtime_error(root + " holds no MySQL: scripts/install-mysql.sh installs it");
  }
  if (geteuid() != 0) throw std::runtime_error("MySQL runs under chroot, which takes root");
  setenv(kRoot, root.c_str(), 1);
  auto database =
      std::make_unique<testing::DatabaseServer>(testing::DatabaseServer::Engine::kMySql);
  unsetenv(kRoot);  // all other servers run on MariaDB
  database->Start();
  return database;
}

TenureServer::TenureServer(testing::DatabaseServer& database, const std::string& store_url)
    : database_(database), replica_(store_url) {}

std::string TenureServer::endpoint() const { return replica_.endpoint(); }

std::string TenureServer::configuration() {
  const auto settings = database_.Query(
      "SELECT CONCAT(VERSION(), ', innodb_flush_log_at_trx_commit=', "
      "@@innodb_flush_log_at_trx_commit, ', sync_binlog=', @@sync_binlog, ', log_bin=', @@log_bin, "
      "', innodb_flush_method=', @@innodb_flush_method, ', innodb_buffer_pool_size=', "
      "@@innodb_buffer_pool_size)");
  const bool mariadb = settings.output.find("MariaDB") != std::string::npos;
  return "one replica, all flags at their defaults, on a database server of its own: " +
         std::string(mariadb ? "" : "MySQL ") + FirstLine(settings.output) +
         " (all as shipped), but max_connections=500" +
         (mariadb ? "" : ", mysqlx=OFF and secure_file_priv=NULL");
}

CpuTimes TenureServer::CpuTime() {
  return {{"tenured", CpuTimeOf(replica_.process())},
          {kDatabaseProgram, CpuTimeOf(database_.process())}};
}

double TenureServer::Metric(const std::string& name) const {
  return MetricOnPage(replica_.Get("/metrics").second, name);
}

double TenureServer::ResidentBytes() { return replica_.process().ResidentBytes(); }

std::unique_ptr<Server> StartServer(Column system, const ServerSource& source,
                                    const std::string& name) {
  switch (system) {
    case Column::kTenure:
      return std::make_unique<TenureServer>(source.database, source.database.FreshDatabase(name));
    case Column::kTenureBySocket:
      return std::make_unique<TenureServer>(
          source.database,
          source.database.FreshDatabase(name + "_socket") + "?socket=" + source.database.socket());
    case Column::kTenureOnMySql:
      if (source.mysql == nullptr) throw std::runtime_error("no MySQL was named");
      return std::make_unique<TenureServer>(*source.mysql, source.mysql->FreshDatabase(name));
    case Column::kEtcd: return std::make_unique<EtcdServer>(source.etcd);
    case Column::kZooKeeper: return std::make_unique<ZooKeeperServer>();
  }
  throw std::invalid_argument("no such system");
}

}  // namespace tenure::bench
