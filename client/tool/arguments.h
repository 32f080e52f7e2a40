// The arguments of the commands.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "client/tool/commands.h"
#include "command_line/command_line.h"

namespace tenure {

// Runs the command that was parsed, and returns the exit code.
using Chosen = std::function<int()>;

// The type of an option that names a file, in the help and for completions.
inline constexpr char kFileType[] = "FILE";

// Add commands to `app`. All arguments must outlive the run of `chosen`.
void AddElectionCommands(CLI::App& app, const CommonOptions& common, Chosen& chosen);
void AddAdminCommands(CLI::App& app, const CommonOptions& common, Chosen& chosen);
void AddCompletionCommand(CLI::App& app, Chosen& chosen);

// Adds an option that takes a duration of at least `min`.
void AddDuration(CLI::App& app, const std::string& flag, std::optional<Duration>& target,
                 Duration min, const std::string& help);

}  // namespace tenure
