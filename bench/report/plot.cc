#include "bench/report/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/report/svg.h"

namespace tenure::bench {
namespace {

constexpr int kWidth = 760;
constexpr int kMargin = 24;
constexpr int kBarsLeft = 130;
constexpr int kBarsWidth = 500;
constexpr int kBarHeight = 18;
constexpr int kBarPitch = 24;
constexpr int kTitleHeight = 28;
constexpr int kPanelGap = 20;

// What Tenure has to reach, in the row's own unit.
std::optional<double> Bound(const Results& results, const Row& row, const Goal& goal) {
  const Verdict verdict = results.Judge(row, goal);
  if (!verdict.measured || *verdict.measured <= 0) return std::nullopt;
  return *row.Value(Column::kTenure) / *verdict.measured * goal.times;
}

class Panel {
 public:
  Panel(const Results& results, const Row& row, int top) : row_(row), top_(top) {
    for (const auto& [column, rounds] : row.rounds) {
      if (!rounds.empty()) largest_ = std::max(largest_, std::ranges::max(rounds));
    }
    for (const Goal& goal : row.goals) {
      if (const auto bound = Bound(results, row, goal)) bounds_.push_back(*bound);
    }
    if (!bounds_.empty()) largest_ = std::max(largest_, std::ranges::max(bounds_));
  }

  [[nodiscard]] std::string Draw() const {
    const bool more_is_better = row_.unit.ends_with("/s");
    std::string svg = fmt::format(
        "  <text class=\"title\" x=\"{}\" y=\"{}\">{}<tspan class=\"note\" dx=\"8\">{}; {} is "
        "better</tspan></text>\n",
        kMargin, top_ + 16, row_.work, row_.unit, more_is_better ? "more" : "less");
    int y = top_ + kTitleHeight;
    for (const Column column : kColumns) {
      const auto value = row_.Value(column);
      if (!value) continue;
      svg += DrawBar(column, *value, y);
      y += kBarPitch;
    }
    for (const double bound : bounds_) {
      svg += fmt::format("  <path class=\"goal\" d=\"M{:.1f} {}V{}\"/>\n", X(bound),
                         top_ + kTitleHeight - 3, y - 3);
    }
    return svg;
  }

  [[nodiscard]] int Bottom() const {
    const auto bars = std::ranges::count_if(
        kColumns, [&](Column column) { return row_.Value(column).has_value(); });
    return top_ + kTitleHeight + static_cast<int>(bars) * kBarPitch;
  }

 private:
  [[nodiscard]] double X(double value) const {
    return kBarsLeft + (largest_ > 0 ? value / largest_ * kBarsWidth : 0);
  }

  [[nodiscard]] std::string DrawBar(Column column, double value, int y) const {
    const std::string name = Name(column);
    const auto [least, most] = std::ranges::minmax(row_.rounds.at(column));
    const int middle = y + kBarHeight / 2;
    return fmt::format("  <text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, middle + 4,
                       name) +
           fmt::format("  <rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>\n",
                       name, kBarsLeft, y, X(value) - kBarsLeft, kBarHeight) +
           fmt::format("  <path class=\"range\" d=\"M{:.1f} {}H{:.1f}\"/>\n", X(least), middle,
                       X(most)) +
           fmt::format("  <text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n",
                       kBarsLeft + kBarsWidth + 12, middle + 4, FigureText(value));
  }

  const Row& row_;
  const int top_;
  double largest_ = 0;
  std::vector<double> bounds_;
};

}  // namespace

std::string Plot(const Results& results) {
  std::string panels;
  int top = kMargin;
  for (const Row& row : results.rows) {
    if (row.rounds.size() < 2) continue;
    const Panel panel(results, row, top);
    panels += panel.Draw();
    top = panel.Bottom() + kPanelGap;
  }
  return SvgDocument("Tenure beside etcd and ZooKeeper", kWidth, top, panels);
}

}  // namespace tenure::bench
