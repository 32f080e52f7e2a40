// Three members of MySQL Group Replication, on loopback if nobody names other hosts.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/database_server.h"

namespace tenure::testing {

class GroupReplication {
 public:
  enum class Mode : uint8_t { kSinglePrimary, kMultiPrimary };

  // All of them online; the first is the primary, or all are.
  explicit GroupReplication(const std::vector<Host>& hosts = std::vector<Host>(3),
                            Mode mode = Mode::kSinglePrimary);

  DatabaseServer& server(size_t number) { return *members_.at(number); }
  // A store URL that names all of them, beginning with this one.
  [[nodiscard]] std::string Url(const std::string& database, size_t first = 0) const;

  // The member that calls itself the primary, and that a majority knows as such. Waits for it, and,
  // if `no_more` is given, until that one is the primary no longer.
  size_t WaitForPrimary(std::optional<size_t> no_more = {});
  // A member that was killed: starts it again, as an ordinary server that does not join.
  void StartAlone(size_t number);
  // A member that runs: joins, and is up to date.
  void Join(size_t number);
  // Makes this one the primary, in an orderly way.
  void Appoint(size_t number);

 private:
  [[nodiscard]] std::vector<std::string> FlagsOf(size_t number) const;

  const Mode mode_;
  const std::array<int, 3> group_ports_;
  std::vector<std::unique_ptr<DatabaseServer>> members_;
};

}  // namespace tenure::testing
