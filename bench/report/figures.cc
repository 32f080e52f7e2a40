#include "bench/report/figures.h"

#include <algorithm>

#include "bench/report/columns.h"
#include "bench/report/results.h"

namespace tenure::bench {
namespace {

constexpr size_t kValueColumn = 1;

bool IsValue(size_t column) { return column == kValueColumn; }

std::vector<Line> Lines(const Figures& figures) {
  std::vector<Line> lines = {{"what", "measured", "unit", "goal", ""}};
  for (const Figure& figure : figures.list) {
    lines.push_back({figure.what, FigureText(figure.value), figure.unit,
                     figure.at_most ? "at most " + FigureText(*figure.at_most) : "",
                     figure.at_most ? (figure.Met() ? "met" : "MISSED") : ""});
  }
  return lines;
}

std::string WithRemarks(std::string text, const Figures& figures) {
  for (const std::string& remark : figures.remarks) text += "\n" + remark + "\n";
  return text;
}

}  // namespace

bool Figures::AllMet() const { return std::ranges::all_of(list, &Figure::Met); }

std::string TextTable(const Figures& figures) {
  return WithRemarks(AlignedText(Lines(figures), &IsValue), figures);
}

std::string MarkdownTable(const Figures& figures) {
  return WithRemarks(MarkdownText(Lines(figures), &IsValue), figures);
}

nlohmann::ordered_json ToJson(const Figures& figures) {
  auto list = nlohmann::ordered_json::array();
  for (const Figure& figure : figures.list) {
    nlohmann::ordered_json json = {
        {"what", figure.what}, {"unit", figure.unit}, {"value", figure.value}};
    if (figure.at_most) {
      json["at_most"] = *figure.at_most;
      json["met"] = figure.Met();
    }
    list.push_back(std::move(json));
  }
  return {{"met", figures.AllMet()}, {"figures", list}, {"remarks", figures.remarks}};
}

}  // namespace tenure::bench
