// The process that holds a seat, and is killed, asked to resign, or deposed. It works as long as it
// believes that it leads, and writes the lines that HolderLog reads.
#pragma once

#include <chrono>
#include <string>

namespace tenure::bench {

struct SqlHolderOptions {
  std::string scheme;  // its key
  int port;            // of the database server
  std::string database;
  std::string election;
};

// Stands with SQL statements, and believes the last answer. Returns after it has resigned, on
// SIGUSR1. Throws SqlError if it cannot connect.
void RunSqlHolder(const SqlHolderOptions& options);

struct TenureHolderOptions {
  std::string endpoint;
  std::string election;
  std::chrono::seconds lease;
};

// The same with Tenure's C++ library: asks the elector before each piece of work. Throws
// std::runtime_error if it cannot resign.
void RunTenureHolder(const TenureHolderOptions& options);

}  // namespace tenure::bench
