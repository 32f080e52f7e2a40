#include "tests/polyglot/bad_days/cast.h"

#include <absl/cleanup/cleanup.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

constexpr std::array<const char*, 2> kNames = {"a", "b"};
constexpr auto kRenewalsPerLease = 3;

}  // namespace

Cast::Cast(Stage& stage, const Language& language, int number, uint64_t seed)
    : stage_(stage),
      language_(language),
      election_(fmt::format("{}-{}", language.name, number)),
      random_(seed),
      observer_(stage.Observe(election_, witness_)) {
  for (size_t i = 0; i < players_.size(); ++i) players_.at(i) = NewPlayer(kNames.at(i), false);
}

std::unique_ptr<Player> Cast::NewPlayer(const std::string& name, bool supersede,
                                        const Endpoints& endpoints) {
  const int number = ++processes_;
  const std::string process = fmt::format("{} {}{}", election_, name, number);
  // GCC 12's acquire() may sleep on while there is a permit.
  while (!stage_.may_start().try_acquire_for(std::chrono::seconds(1))) continue;
  const absl::Cleanup started = [this] { stage_.may_start().release(); };
  auto player = std::make_unique<Player>(
      language_, witness_,
      Stand{.election = election_,
            .name = name,
            .process = process,
            .lease = kLease,
            .supersede = supersede,
            .endpoints = endpoints},
      stage_.Ports(static_cast<size_t>(number) % stage_.replicas().size()));
  // If it never stands, the next wait reports that.
  (void)Eventually([&] { return witness_.requests(process) > 0 || !player->Warnings().empty(); });
  return player;
}

void Cast::Settle() {
  Expect(Eventually([&] { return Settled(); }), "one leads, and the other stands");
}

bool Cast::Settled() {
  const uint64_t term = witness_.latest_term();
  const std::string process = witness_.LeaderIn(term);
  const auto leader = std::ranges::find(players_, process,
                                        [](const auto& player) { return player->stand().process; });
  if (leader == players_.end()) return false;
  leader_ = static_cast<size_t>(leader - players_.begin());
  term_ = term;
  v1::DescribeElectionRequest request;
  request.set_election(election_);
  v1::DescribeElectionResponse response;
  const grpc::Status status =
      TryCall(*stage_.replicas().front(), &AdminStub::DescribeElection, request, &response);
  return status.ok() && std::ranges::any_of(response.queue(), [&](const v1::Candidate& it) {
           return it.candidate() == other().stand().name;
         });
}

void Cast::Expect(bool came, const std::string& what) {
  if (!came) throw Missed("this did not happen: " + what);
}

void Cast::Recover() {
  for (auto& player : players_) {
    player->Signal(SIGCONT);
    player->wire().Open();
    player->wire().Become(Link::State::kWhole);
  }
  try {
    Settle();
  } catch (const Missed&) {
    for (auto& player : players_) Replace(player);
    Settle();
    throw Missed("this happened only after both were replaced: they stand again");
  }
}

void Cast::Replace(std::unique_ptr<Player>& player, const Endpoints& endpoints) {
  const std::string name = player->stand().name;
  player.reset();
  player = NewPlayer(name, false, endpoints);
}

void Cast::Quit() {
  Settle();
  Expect(other().Quit(), "the waiting candidate ends when asked to");
  Expect(leader().Quit(), "the leader ends when asked to");
  Expect(witness_.WaitForEndOf(term_), "the leader has given up its seat");
}

bool Cast::Says(const Player& player, Line::Event event, uint64_t term) {
  return witness_.WaitForSaid(player.stand().process, event, term);
}

bool Cast::HasSaid(const Player& player, Line::Event event, uint64_t term) const {
  return witness_.HasSaid(player.stand().process, event, term);
}

std::unique_ptr<Player> Cast::SupersedeLeader(const Endpoints& endpoints) {
  return std::exchange(players_.at(leader_), NewPlayer(leader().stand().name, true, endpoints));
}

std::chrono::milliseconds Cast::AnyMoment() {
  return std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(0, kLease.count() / kRenewalsPerLease)(random_));
}

}  // namespace tenure::testing
