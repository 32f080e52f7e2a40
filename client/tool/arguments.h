// The arguments of the subcommands: what each is called, takes and means.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "client/tool/commands.h"

namespace tenure {

// What the parsed subcommand runs.
using Chosen = std::function<int()>;

// Add subcommands to `app`. All arguments have to live until `chosen` has run.
void AddElectionCommands(CLI::App& app, const CommonOptions& common, Chosen& chosen);
void AddAdminCommands(CLI::App& app, const CommonOptions& common, Chosen& chosen);

// An option that is a duration of at least `least`.
void AddDuration(CLI::App& app, const std::string& flag, std::optional<Duration>& target,
                 Duration least, const std::string& help);

}  // namespace tenure
