#include "bench/report/figures.h"

#include <algorithm>

namespace tenure::bench {
bool Figures::AllMet() const { return std::ranges::all_of(list, &Figure::Met); }

Sheet ToSheet(const Figures& figures) {
  Table table({{.title = "what"},
               {.title = "measured", .align = Align::kRight},
               {.title = "unit"},
               {.title = "goal"},
               {.title = ""}});
  for (const Figure& figure : figures.list) {
    table.Add({figure.what, FigureText(figure.value), figure.unit,
               figure.at_most ? "at most " + FigureText(*figure.at_most) : "",
               figure.at_most ? (figure.Met() ? "met" : "MISSED") : ""});
  }
  return {table, figures.remarks};
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
