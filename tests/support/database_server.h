// A private database server, on loopback if nobody asks for another host, in a folder of its own:
// MariaDB as Debian packages it, or MySQL from the root directory that TENURE_TEST_MYSQL_ROOT names
// (scripts/install-mysql.sh makes it). With TENURE_TEST_SYNC=off, MariaDB does not wait for the
// disk, which is most of the time of a test; benchmarks and chaos do not set that.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

class DatabaseServer {
 public:
  enum class Engine { kMariaDb, kMySql };

  // What most tests run on: MySQL where TENURE_TEST_MYSQL_ROOT is set, MariaDB elsewhere. It is
  // initialised, started and answering.
  DatabaseServer();
  // Initialised only: `Start` it with its flags. Its folder is made in another one, if that is
  // named. REQUIRES: it is not MySQL, then, whose folder must be inside its root.
  explicit DatabaseServer(Engine engine, Host host = {}, const std::filesystem::path& parent = {});

  void Kill();   // kill -9
  void Start();  // on the same port and data
  void Stop();   // an orderly shutdown
  // Starts it with these flags besides its own. They stay until the next time.
  void StartWith(std::vector<std::string> flags);
  void RestartWith(std::vector<std::string> flags);
  // From the next start on, it runs there, on the same port and data.
  void MoveTo(Host host) { host_ = std::move(host); }
  // Its clock, but not its monotonic one, is ahead of this machine's from now on.
  // REQUIRES: MariaDB, and the first time, it is not running.
  void SetClock(std::chrono::seconds ahead);
  // Writes a file into its folder, and returns the path that the server knows it by.
  std::string WriteFile(const std::string& name, const std::string& content) const;
  // The path of its socket.
  [[nodiscard]] std::string socket() const { return folder_.path() / "socket"; }

  // Makes an empty database of this name, dropping what was there, and returns its store URL.
  std::string FreshDatabase(const std::string& name);
  // Writes all that a database holds into a file of SQL, and puts it back in place of what is
  // there.
  void Dump(const std::string& name, const std::filesystem::path& file) const;
  void Restore(const std::string& name, const std::filesystem::path& file);
  // Ends every connection to a database, as a network does that forgets them.
  void EndConnections(const std::string& name) const;
  // Runs SQL as root.
  Finished Query(const std::string& sql, std::chrono::milliseconds patience = kPatience) const;
  // The same, which has to succeed. Returns the only cell of its last result, if it has one.
  std::string Ask(const std::string& sql) const;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] std::string address() const { return host_.address + ":" + std::to_string(port_); }

  [[nodiscard]] Process& process() { return *process_; }

 private:
  // A path in its folder, as it sees it.
  [[nodiscard]] std::string Inside(const std::string& name) const;
  [[nodiscard]] std::map<std::string, std::string> Environment() const;
  // A client program of MariaDB's, as root.
  Finished Run(const std::string& program, const std::vector<std::string>& arguments,
               std::chrono::milliseconds patience = kPatience) const;

  std::string root_;  // of the MySQL installation; empty for MariaDB
  Host host_;
  TempDir folder_;
  int port_;
  const std::vector<std::string> sync_flags_;
  std::vector<std::string> flags_;
  bool settable_clock_ = false;
  std::unique_ptr<Process> process_;
};

}  // namespace tenure::testing
