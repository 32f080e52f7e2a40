// The attacks by name, so that they can be tried one by one and all together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/hostile/attacker.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

// A line that a caller tries to forge in the log.
inline constexpr char kForgedLine[] = "2026-01-01 info leader changed election=forged";

struct Attack {
  std::string name;
  // For about this long.
  std::function<void(Tenured& server, std::chrono::milliseconds duration)> make;
};

// The attacks that a replica survives with the gRPC of this build: Debian's does not survive those
// on HTTP/2.
[[nodiscard]] std::vector<Attack> SurvivedAttacks();
[[nodiscard]] std::vector<Attack> AttacksOnConnections();
[[nodiscard]] std::vector<Attack> AttacksOnHttp2();
[[nodiscard]] std::vector<Attack> AttacksOnTheLog();
[[nodiscard]] std::vector<Attack> AttacksByCallers();

}  // namespace tenure::testing
