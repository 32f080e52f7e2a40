// Schemes in which teams elect leaders with their own SQL statements.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tenure::bench {

// In the statements, {election} and {candidate} stand for names. An attempt and a renewal each run
// their statements in order; the answer to the last one says whether the candidate leads.
struct SqlScheme {
  std::string key;    // on command lines
  std::string name;   // for people
  std::string table;  // creates it; empty: not needed
  std::string seed;   // inserts the row of an election before anybody stands; empty: not needed
  std::string first;  // once, before a candidate's first attempt; empty: nothing
  std::vector<std::string> attempt;
  std::vector<std::string> renew;
  std::string release;
  std::chrono::milliseconds attempt_every;
  std::chrono::milliseconds renew_every;
  // An attempt waits in the server until the candidate leads. The seat is lost with the connection,
  // and only then.
  bool held_by_connection = false;
};

[[nodiscard]] const std::vector<SqlScheme>& SqlSchemes();
// Throws std::invalid_argument if there is no such scheme.
[[nodiscard]] const SqlScheme& SqlSchemeOf(const std::string& key);

// A statement with its names filled in.
[[nodiscard]] std::string Filled(const std::string& statement, const std::string& election,
                                 const std::string& candidate = "");

}  // namespace tenure::bench
