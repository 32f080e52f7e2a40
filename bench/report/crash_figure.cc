#include "bench/report/crash_figure.h"

#include <algorithm>

#include "bench/report/columns.h"
#include "bench/report/statistics.h"

namespace tenure::bench {
namespace {

constexpr size_t kFirstFigure = 1;

bool IsMeasured(size_t column) { return column >= kFirstFigure; }

std::vector<Line> Lines(const CrashFigure& figure) {
  std::vector<Line> lines = {{"system", "wait", "median ms", "least ms", "most ms", "crashes"}};
  for (const CrashPoint& point : figure.points) {
    if (point.times_ms.empty()) continue;
    const auto [least, most] = std::ranges::minmax(point.times_ms);
    lines.push_back({Name(point.system), FigureText(static_cast<double>(point.waiting)),
                     FigureText(Median(point.times_ms)), FigureText(least), FigureText(most),
                     std::to_string(point.times_ms.size())});
  }
  return lines;
}

std::string WithWhatIsLeftOut(std::string text, const CrashFigure& figure) {
  for (const CrashPoint& point : figure.points) {
    if (!point.times_ms.empty()) continue;
    text += "\nLeft out: " + Name(point.system) + " with " +
            FigureText(static_cast<double>(point.waiting)) + ": " + point.left_out + "\n";
  }
  return text;
}

}  // namespace

bool CrashFigure::Complete() const {
  return std::ranges::all_of(points, [](const CrashPoint& point) {
    return point.system != Column::kTenure || !point.times_ms.empty();
  });
}

std::string TextTable(const CrashFigure& figure) {
  return WithWhatIsLeftOut(AlignedText(Lines(figure), &IsMeasured), figure);
}

std::string MarkdownTable(const CrashFigure& figure) {
  return WithWhatIsLeftOut(MarkdownText(Lines(figure), &IsMeasured), figure);
}

nlohmann::ordered_json ToJson(const CrashFigure& figure) {
  auto points = nlohmann::ordered_json::array();
  for (const CrashPoint& point : figure.points) {
    nlohmann::ordered_json json = {{"system", Name(point.system)}, {"waiting", point.waiting}};
    if (point.times_ms.empty()) {
      json["left_out"] = point.left_out;
    } else {
      json["median_ms"] = Median(point.times_ms);
      json["times_ms"] = point.times_ms;
    }
    points.push_back(std::move(json));
  }
  return {{"points", points}};
}

}  // namespace tenure::bench
