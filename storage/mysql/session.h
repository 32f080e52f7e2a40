// How the store sets its sessions up: every variable that a server can default, and that changes
// what a statement or a commit means, has one value here, whatever the server's defaults are.
//
// tests/contract/session_variables.txt judges every session variable of both engines.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "storage/mysql/server.h"

namespace tenure::mysql {

// The server ends a session that has been silent for this long, and frees its locks: those of a
// replica that froze in the middle of a transaction.
inline constexpr std::chrono::seconds kSilenceMax{5};

// Runs before any query, also of the driver: with a limit on rows, or on time, answers would be
// wrong. One statement, for both engines.
extern const char kFirstOfSession[];

// Asks for this session's variables that SetUpSession needs. The answer lacks those that the engine
// does not have.
[[nodiscard]] std::string SessionVariables();

// A variable that only a privileged user may set, and that has the wrong value.
struct PrivilegedSetting {
  std::string name;
  std::string value;  // now
  std::string statement;
};

struct SessionSetup {
  std::vector<std::string> statements;
  std::vector<PrivilegedSetting> privileged;
};

// Pure. `variables` is the answer to SessionVariables, by name in lower case.
[[nodiscard]] SessionSetup SetUpSession(const std::map<std::string, std::string>& variables,
                                        const Server& server);

}  // namespace tenure::mysql
