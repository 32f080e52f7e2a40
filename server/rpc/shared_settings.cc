#include "server/rpc/shared_settings.h"

#include <fmt/format.h>

#include <utility>

namespace tenure::rpc {
namespace {

constexpr size_t kDifferingMax = 64;
constexpr size_t kSettingBytesMax = 64;

}  // namespace

std::optional<std::string> OtherSettings::Learn(const std::string& address,
                                                const SharedSettings& settings) {
  std::string differences = DifferencesFrom(settings);
  const MutexLock lock(mutex_);
  const auto known = differences_.find(address);
  if (known == differences_.end() ? differences.empty() : known->second == differences) return {};
  if (differences.empty()) {
    differences_.erase(known);
    return differences;
  }
  if (known == differences_.end() && differences_.size() == kDifferingMax)
    differences_.erase(differences_.begin());
  differences_[address] = differences;
  return differences;
}

std::string OtherSettings::DifferencesFrom(const SharedSettings& settings) const {
  std::string all;
  for (const auto& [flag, own] : own_) {
    const auto other = settings.find(flag);
    if (other == settings.end() || other->second == own) continue;
    all += fmt::format("{}{} is {} here and {} there", all.empty() ? "" : ", ", flag, own,
                       other->second.substr(0, kSettingBytesMax));
  }
  return all;
}

}  // namespace tenure::rpc
