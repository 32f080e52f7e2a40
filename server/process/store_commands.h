// What tenured does to a store before it serves, or instead: `tenured migrate` and `bump-terms`.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "server/process/config.h"
#include "server/process/service_manager.h"
#include "storage/store.h"

namespace tenure::process {

// Prints one line on standard error. Returns EXIT_FAILURE.
int Complain(const std::string& what);

// Why a file of SQLite that must exist cannot be used; nothing if it can.
[[nodiscard]] std::optional<std::string> FaultOfFile(const ServerConfig& config);

struct SchemaFault {
  bool fatal;
  std::string message;
};
// Brings the schema up to date, or finds out why not. kStoreUnavailable is worth another try; any
// other outcome of an error is a sentence for the operator.
[[nodiscard]] tl::expected<void, SchemaFault> PrepareSchema(Store& store,
                                                            const ServerConfig& config,
                                                            ServiceManager& service_manager);

// The commands. Each returns the exit code.

[[nodiscard]] int Migrate(Store& store, const ServerConfig& config,
                          ServiceManager& service_manager);
// A store that has no schema yet is most likely not the one that was meant.
[[nodiscard]] int BumpAllTerms(Store& store, ServerConfig config, ServiceManager& service_manager);

}  // namespace tenure::process
