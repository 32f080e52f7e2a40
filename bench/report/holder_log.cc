#include "bench/report/holder_log.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace tenure::bench {
namespace {

constexpr std::array<std::pair<HolderEvent, const char*>, 5> kWords = {
    {{HolderEvent::kBegan, "began"},
     {HolderEvent::kRenewed, "renewed"},
     {HolderEvent::kWorked, "worked"},
     {HolderEvent::kResigning, "resigning"},
     {HolderEvent::kEnded, "ended"}}};

void Note(HolderLog& log, HolderEvent event, HolderTime at) {
  switch (event) {
    case HolderEvent::kBegan: log.began = at; return;
    case HolderEvent::kRenewed: ++log.renewals; return;
    case HolderEvent::kWorked: log.worked.push_back(at); return;
    case HolderEvent::kResigning: log.resigning = at; return;
    case HolderEvent::kEnded: log.ended = at; return;
  }
}

}  // namespace

std::string HolderLine(HolderEvent event, HolderTime at) {
  const auto* const found = std::ranges::find(kWords, event, &decltype(kWords)::value_type::first);
  return std::string(found->second) + " " + std::to_string(at.time_since_epoch().count());
}

HolderLog ReadHolderLog(const std::vector<std::string>& lines) {
  HolderLog log;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string word;
    int64_t ticks = 0;
    words >> word >> ticks;
    const auto* const found = std::ranges::find_if(
        kWords, [&](const auto& candidate) { return candidate.second == word; });
    if (!words || found == kWords.end()) {
      throw std::runtime_error("a holder wrote '" + line + "'");
    }
    Note(log, found->first, HolderTime(HolderTime::duration(ticks)));
  }
  return log;
}

double HolderLog::OverlapMs(HolderTime since) const {
  if (worked.empty() || worked.back() < since) return 0;
  const HolderTime until = std::max(ended.value_or(worked.back()), worked.back());
  return std::chrono::duration<double, std::milli>(until - since).count();
}

}  // namespace tenure::bench
