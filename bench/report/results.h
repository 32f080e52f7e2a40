// The figures of one run: a row for each kind of work, a column for each system, and goals for
// rows.
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
// The systems that do every compared work.
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

// A bound on Tenure's figure in a row: a factor of another figure.
struct Goal {
  enum class Sense { kAtLeast, kAtMost };
  struct RowUnit {};  // a plain number in the unit of the row
  Sense sense;
  double times;
  std::variant<RowUnit, Column, RowId>
      of;  // another column of the same row, or Tenure in another row
};

struct Row {
  // How the figures of the rounds become one.
  enum class Summary { kMedian, kWorst };

  RowId id;
  std::string work;
  std::string unit;
  Summary summary = Summary::kMedian;  // kWorst is the largest: only where less is better
  std::vector<Goal> goals;
  std::map<Column, std::vector<double>> rounds = {};
  // Other figures of the same rounds, by name: not judged.
  std::map<std::string, std::map<Column, std::vector<double>>> also = {};

  // Systems that could not do the work as planned. Their figures meet no goal.
  std::set<Column> spoiled = {};

  // Nothing if the system did not do this work.
  [[nodiscard]] std::optional<double> Value(Column column) const;
};

struct Verdict {
  std::string goal;                     // "at least 2 x etcd"
  std::optional<double> bound = {};     // in the row's unit
  std::optional<double> measured = {};  // in the goal's terms: the 1.4 of "1.4 x etcd"
  bool met = false;                     // false if something was not measured
};

struct Results {
  std::vector<Row> rows;
  std::vector<std::string> remarks = {};  // for people: what the figures do not show

  [[nodiscard]] Row& At(RowId id);
  [[nodiscard]] const Row& At(RowId id) const;
  [[nodiscard]] Verdict Judge(const Row& row, const Goal& goal) const;
  // Whether the row meets all its goals. True if it has none.
  [[nodiscard]] bool Met(const Row& row) const;
  [[nodiscard]] bool AllMet() const;
};

// All rows, with their goals but without figures.
[[nodiscard]] Results NoResults();

// A figure as people read it: "12,345", "12.3", "0.41".
[[nodiscard]] std::string FigureText(double value);

}  // namespace tenure::bench
