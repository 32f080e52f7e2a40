// One replica of three is attacked in all ways, one after the other. No leader loses its seat:
// neither those that renew there, nor those of the others. TENURE_TEST_SECONDS is how long;
// TENURE_TEST_SEED repeats an order.
#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/hostile/attacks.h"
#include "tests/hostile/hostile_fixture.h"
#include "tests/support/database_server.h"

namespace tenure::testing {
namespace {

unsigned FromEnvironment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::stoul(text));
}

std::vector<std::string> Seats(const std::string& replica) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("seat " + std::to_string(i) + " of " + replica);
  return names;
}

TEST(MixedAttackTest, NoLeaderLosesItsSeat) {
  DatabaseServer database;
  const std::string url = database.FreshDatabase("tenure");
  Tenured a(url), b(url);
  Tenured attacked(url, {}, true, WithLimits());
  HealthyLeaders leaders_of_a(a, Seats("a")), leaders_of_b(b, Seats("b")),
      leaders_of_attacked(attacked, Seats("attacked"));
  const unsigned seed = FromEnvironment("TENURE_TEST_SEED", std::random_device()());
  std::cout << "seed " << seed << std::endl;
  std::mt19937 random(seed);

  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(FromEnvironment("TENURE_TEST_SECONDS", 60));
  std::map<std::string, int> made;
  while (std::chrono::steady_clock::now() < end && attacked.process().Running()) {
    const std::vector<Attack> attacks = SurvivedAttacks();
    const Attack& attack = attacks[random() % attacks.size()];
    attack.make(attacked, 2s);
    ++made[attack.name];
  }
  const auto served_after = TimeToServe(attacked, "seat 0 of a");

  for (const auto& [name, times] : made) std::cout << times << " x " << name << std::endl;
  std::cout << "serves after " << served_after.count() << " ms; worst renewals at the others "
            << leaders_of_a.WorstRenewal().count() << " ms, " << leaders_of_b.WorstRenewal().count()
            << " ms, there " << leaders_of_attacked.WorstRenewal().count() << " ms; "
            << (PeakMemory(attacked) >> 20) << " MB" << std::endl;
  EXPECT_LT(PeakMemory(attacked), kMemoryMax);
  leaders_of_a.ExpectSeats();
  leaders_of_b.ExpectSeats();
  leaders_of_attacked.ExpectSeats();
}

}  // namespace
}  // namespace tenure::testing
