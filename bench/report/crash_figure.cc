#include "bench/report/crash_figure.h"

#include <algorithm>

#include "bench/report/statistics.h"

namespace tenure::bench {
bool CrashFigure::Complete() const {
  return std::ranges::all_of(points, [](const CrashPoint& point) {
    return point.system != Column::kTenure || !point.times_ms.empty();
  });
}

Sheet ToSheet(const CrashFigure& figure) {
  Sheet sheet{Table({{.title = "system"},
                     {.title = "wait", .align = Align::kRight},
                     {.title = "median ms", .align = Align::kRight},
                     {.title = "least ms", .align = Align::kRight},
                     {.title = "most ms", .align = Align::kRight},
                     {.title = "crashes", .align = Align::kRight}})};
  for (const CrashPoint& point : figure.points) {
    const std::string waiting = FigureText(static_cast<double>(point.waiting));
    if (point.times_ms.empty()) {
      sheet.remarks.push_back("Left out: " + Name(point.system) + " with " + waiting + ": " +
                              point.left_out);
      continue;
    }
    const auto [least, most] = std::ranges::minmax(point.times_ms);
    sheet.table.Add({Name(point.system), waiting, FigureText(Median(point.times_ms)),
                     FigureText(least), FigureText(most), std::to_string(point.times_ms.size())});
  }
  return sheet;
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
