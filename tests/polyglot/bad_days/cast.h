// Two candidates of one language in an election of their own, who go through bad days together.
#pragma once

#include <array>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/polyglot/bad_days/player.h"
#include "tests/polyglot/bad_days/stage.h"

namespace tenure::testing {

// Something that must happen did not. It ends the day.
struct Missed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Cast {
 public:
  static constexpr std::chrono::milliseconds kLease{1'500};

  // Its candidates live as long as the thread that calls this. `number` tells casts of one language
  // apart.
  Cast(Stage& stage, const Language& language, int number, uint64_t seed);

  // Waits until one of them leads, and the other one stands behind it. Throws Missed.
  void Settle();
  // Throws Missed unless it came.
  static void Expect(bool came, const std::string& what);
  // Undoes whatever was done to them, and waits until they settle. If they do not, replaces them,
  // and throws Missed once the others have settled.
  void Recover();
  // Both end; the leader gives up the seat. Throws Missed.
  void Quit();

  // The leader when they settled.
  [[nodiscard]] Player& leader() { return *players_.at(leader_); }
  [[nodiscard]] Player& other() { return *players_.at(1 - leader_); }
  [[nodiscard]] uint64_t term() const { return term_; }

  [[nodiscard]] bool Says(const Player& player, Line::Event event, uint64_t term);
  [[nodiscard]] bool HasSaid(const Player& player, Line::Event event, uint64_t term) const;
  // Kills the leader, and starts another process in its place.
  void ReplaceLeader(const Endpoints& endpoints = {}) { Replace(players_.at(leader_), endpoints); }
  // Starts a new process of the leader's name and language, which takes over. Returns the old one.
  [[nodiscard]] std::unique_ptr<Player> SupersedeLeader(const Endpoints& endpoints = {});

  [[nodiscard]] Stage& stage() { return stage_; }
  [[nodiscard]] Witness& witness() { return witness_; }
  [[nodiscard]] const Language& language() const { return language_; }
  [[nodiscard]] const std::string& election() const { return election_; }
  // A moment between two renewals.
  [[nodiscard]] std::chrono::milliseconds AnyMoment();

 private:
  [[nodiscard]] std::unique_ptr<Player> NewPlayer(const std::string& name, bool supersede,
                                                  const Endpoints& endpoints = {});
  void Replace(std::unique_ptr<Player>& player, const Endpoints& endpoints = {});
  [[nodiscard]] bool Settled();

  Stage& stage_;
  const Language& language_;
  const std::string election_;
  std::mt19937_64 random_;
  int processes_ = 0;
  Witness witness_;
  std::unique_ptr<tenure::Observer> observer_;
  std::array<std::unique_ptr<Player>, 2> players_;
  size_t leader_ = 0;
  uint64_t term_ = 0;
};

}  // namespace tenure::testing
