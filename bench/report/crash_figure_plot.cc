#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "bench/report/crash_figure.h"
#include "bench/report/statistics.h"
#include "bench/report/svg.h"

namespace tenure::bench {
namespace {

constexpr int kWidth = 760;
constexpr int kHeight = 420;
constexpr int kLeft = 64;
constexpr int kRight = 640;
constexpr int kTop = 64;
constexpr int kBottom = 360;
constexpr int kTickHalf = 4;
constexpr std::array kSecondsPerLine = {0.5, 1.0, 2.0, 5.0, 10.0, 20.0};
constexpr size_t kGridLinesMax = 10;

class Picture {
 public:
  explicit Picture(const CrashFigure& figure) : figure_(figure) {
    for (const CrashPoint& point : figure.points) {
      if (point.times_ms.empty()) continue;
      counts_.insert(point.waiting);
      largest_ms_ = std::max(largest_ms_, std::ranges::max(point.times_ms));
    }
    step_ms_ = GridStep();
    largest_ms_ = std::ceil(largest_ms_ / step_ms_) * step_ms_;
  }

  [[nodiscard]] std::string Draw() const {
    std::string svg = fmt::format(
        "  <text class=\"title\" x=\"24\" y=\"32\">Leader killed to next leader told<tspan "
        "class=\"note\" dx=\"8\">seconds; median, least and most; less is better</tspan></text>\n");
    svg += DrawGrid();
    for (const Column system : kColumns) svg += DrawSeries(system);
    return svg;
  }

 private:
  [[nodiscard]] double GridStep() const {
    for (const double seconds : kSecondsPerLine) {
      if (largest_ms_ <= seconds * 1000 * kGridLinesMax) return seconds * 1000;
    }
    return largest_ms_;
  }

  [[nodiscard]] double X(size_t waiting) const {
    const double first = std::log(static_cast<double>(*counts_.begin()));
    const double last = std::log(static_cast<double>(*counts_.rbegin()));
    if (last <= first) return kLeft;
    return kLeft +
           (std::log(static_cast<double>(waiting)) - first) / (last - first) * (kRight - kLeft);
  }

  [[nodiscard]] double Y(double ms) const { return kBottom - ms / largest_ms_ * (kBottom - kTop); }

  [[nodiscard]] std::string DrawGrid() const {
    std::string svg;
    for (double ms = 0; ms <= largest_ms_; ms += step_ms_) {
      svg += fmt::format("  <path class=\"grid\" d=\"M{} {:.1f}H{}\"/>\n", kLeft, Y(ms), kRight);
      svg += fmt::format(
          "  <text class=\"note\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          kLeft - 10, Y(ms) + 4, FigureText(ms / 1000));
    }
    for (const size_t waiting : counts_) {
      svg += fmt::format(
          "  <text class=\"note\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
          X(waiting), kBottom + 20, FigureText(static_cast<double>(waiting)));
    }
    svg += fmt::format(
        "  <text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">candidates that "
        "wait</text>\n",
        (kLeft + kRight) / 2, kBottom + 42);
    return svg;
  }

  [[nodiscard]] std::string DrawSeries(Column system) const {
    const std::string name = Name(system);
    std::string curve;
    std::string marks;
    std::string label;
    for (const CrashPoint& point : figure_.points) {
      if (point.system != system || point.times_ms.empty()) continue;
      const double x = X(point.waiting);
      const double y = Y(Median(point.times_ms));
      const auto [least, most] = std::ranges::minmax(point.times_ms);
      curve += fmt::format("{}{:.1f} {:.1f}", curve.empty() ? "M" : "L", x, y);
      marks += fmt::format(
          "  <path class=\"{} curve\" d=\"M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}H{:.1f}M{:.1f} "
          "{:.1f}H{:.1f}\"/>\n",
          name, x, Y(least), Y(most), x - kTickHalf, Y(least), x + kTickHalf, x - kTickHalf,
          Y(most), x + kTickHalf);
      marks += fmt::format("  <circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", name,
                           x, y);
      label = fmt::format("  <text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 12,
                          y + 4, name);
    }
    if (curve.empty()) return "";
    return fmt::format("  <path class=\"{} curve\" d=\"{}\"/>\n", name, curve) + marks + label;
  }

  const CrashFigure& figure_;
  std::set<size_t> counts_;
  double largest_ms_ = 0;
  double step_ms_ = 0;
};

}  // namespace

std::string Plot(const CrashFigure& figure) {
  return SvgDocument("Leader killed to next leader told, against the candidates that wait", kWidth,
                     kHeight, Picture(figure).Draw());
}

}  // namespace tenure::bench
