// The figures of one run: a row for each kind of work, a column for each system, and what the rows
// are to reach.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace tenure::bench {

enum class Column { kTenure, kTenureBySocket, kTenureOnMySql, kEtcd, kZooKeeper };
inline constexpr std::array kColumns = {Column::kTenure, Column::kTenureBySocket,
                                        Column::kTenureOnMySql, Column::kEtcd, Column::kZooKeeper};
// Those that do every work that is compared.
inline constexpr std::array kSystems = {Column::kTenure, Column::kEtcd, Column::kZooKeeper};
[[nodiscard]] std::string Name(Column column);

enum class RowId {
  kCycles1,
  kCycles8,
  kCycles32,
  kCycleProcessor,
  kReads,
  kReadProcessor,
  kKeepAlives,
  kKeepAliveProcessor,
  kHandOver,
  kHandOverElsewhere,
  kReplicaCycles,
  kHandOverElsewhereLoaded,
  kOpenCampaignP50,
  kOpenCampaignP99,
  kOpenCampaignP999,
  kOpenResignP50,
  kOpenResignP99,
  kOpenResignP999,
  kCrash,
  kHandOverLongQueue,
  kObservers,
  kIdle,
  kIdleWithMany,
};

// A bound on what Tenure measures in a row: a factor of another figure.
struct Goal {
  enum class Sense { kAtLeast, kAtMost };
  struct RowUnit {};  // of the row itself
  Sense sense;
  double times;
  std::variant<RowUnit, Column, RowId> of;  // a column of the same row; Tenure in another row
};

struct Row {
  // How the rounds become one figure.
  enum class Summary { kMedian, kWorst };

  RowId id;
  std::string work;
  std::string unit;
  Summary summary = Summary::kMedian;  // kWorst is the largest: only where less is better
  std::vector<Goal> goals;
  std::map<Column, std::vector<double>> rounds = {};
  // Other figures of the same rounds, by what they are: not judged.
  std::map<std::string, std::map<Column, std::vector<double>>> also = {};

  // Those that could not do the work as it was planned. No goal is met with their figures.
  std::set<Column> spoiled = {};

  // Nothing if the system did not do this work.
  [[nodiscard]] std::optional<double> Value(Column column) const;
};

struct Verdict {
  std::string goal;                     // "at least 2 x etcd"
  std::optional<double> bound = {};     // the same in the row's unit
  std::optional<double> measured = {};  // in the goal's terms: the 1.4 of "1.4 x etcd"
  bool met = false;                     // also where something was not measured
};

struct Results {
  std::vector<Row> rows;
  std::vector<std::string> remarks = {};  // for people: what the figures do not say

  [[nodiscard]] Row& At(RowId id);
  [[nodiscard]] const Row& At(RowId id) const;
  [[nodiscard]] Verdict Judge(const Row& row, const Goal& goal) const;
  // Whether all goals of this row are met. A row without goals has met them.
  [[nodiscard]] bool Met(const Row& row) const;
  [[nodiscard]] bool AllMet() const;
};

// All rows, with their goals and without figures.
[[nodiscard]] Results NoResults();

// A figure as people read it: "12,345", "12.3", "0.41".
[[nodiscard]] std::string FigureText(double value);

}  // namespace tenure::bench
