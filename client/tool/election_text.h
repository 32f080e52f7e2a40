// An election as shown to operators. Pure.
#pragma once

#include <string>
#include <vector>

#include "client/tool/output.h"
#include "command_line/table.h"
#include "core/types.h"
#include "tenure/v1/admin.pb.h"

namespace tenure {

[[nodiscard]] Json ToJson(const v1::Election& election);
// Null if it is not set.
[[nodiscard]] Json TimeJson(bool set, const google::protobuf::Timestamp& time);

// What is unusual about it, in a few words: "paused", "handover to bob", "vacant, kept for bob
// (25s)". Empty if nothing is.
[[nodiscard]] std::string StateText(const v1::Election& election, DbTime now);

// The settings that differ from zero, in the words of `tenure configure`.
[[nodiscard]] std::string SettingsText(const v1::ElectionSettings& settings);
// Columns and a row of a table of elections.
[[nodiscard]] std::vector<Column> ElectionColumns();
[[nodiscard]] std::vector<std::string> ElectionCells(const v1::Election& election, DbTime now);

}  // namespace tenure
