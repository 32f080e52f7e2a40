// The law under thousands of random commands: invariants after each of them, whatever came before.
// A failure prints the seed and the step that replay it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>

#include "core/law/law_head_testing.h"
#include "core/law/law_testing.h"
#include "core/law/law_witness_testing.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kSteps = 5000;
constexpr int kCandidates = 6;
const Limits kLimits{.queue_max = 4};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // From 0 to `bound` - 1.
  int Below(int bound) { return std::uniform_int_distribution<>(0, bound - 1)(random_); }
  bool OneIn(int times) { return Below(times) == 0; }

 private:
  std::mt19937_64 random_;
};

// Draws what several candidates and an operator may do, sensible or not.
class Commands {
 public:
  explicit Commands(Dice& dice) : dice_(dice) {}

  // A candidate whose session has ended usually opens another one. Now and then one restarts while
  // its session lives.
  Command Draw(const TransactionState& transaction) {
    const auto candidate = static_cast<size_t>(dice_.Below(kCandidates));
    std::string& session = sessions_[candidate];
    const auto found = transaction.sessions.find(Id(session));
    const bool over = found != transaction.sessions.end() && found->second.ended != Cause::kNone;
    if (over ? !dice_.OneIn(4) : dice_.OneIn(12)) session = NewSession(candidate);

    const Term term = AboutTheTermOf(transaction);
    const CallId call_id{static_cast<uint64_t>(1 + dice_.Below(3))};
    switch (dice_.Below(18)) {
      case 0: return ProclaimBy(session, term, Value());
      case 1: return ResignBy(session);
      case 2: return ResignBy(session, term);
      case 3: return WithdrawalBy(session, call_id);
      case 4: return Reconciliation();
      case 5: return ReconciliationOf(session);
      case 6: return Reconcile{kElection, SomebodyInQueue(transaction)};
      case 7:
      case 8:
      case 9: return DrawOfOperator(transaction, CandidateOf(session), term);
      case 10: return DrawForAll(candidate, session, call_id);
      default: return DrawCampaign(transaction, candidate, session, call_id);
    }
  }

  // A session of some candidate, past or present.
  SessionId AnySession() { return Id(sessions_[static_cast<size_t>(dice_.Below(kCandidates))]); }

 private:
  Term AboutTheTermOf(const TransactionState& transaction) {
    return {ElectionIn(transaction).term.value + static_cast<uint64_t>(dice_.Below(3)) - 1};
  }

  // The dead keep their places until they are settled one by one.
  std::optional<SessionId> SomebodyInQueue(const TransactionState& transaction) {
    const auto& queue = StateIn(transaction).queue;
    if (queue.empty()) return std::nullopt;
    return queue[static_cast<size_t>(dice_.Below(static_cast<int>(queue.size())))].session;
  }

  Command DrawOfOperator(const TransactionState& transaction, const std::string& candidate,
                         Term term) {
    if (ElectionIn(transaction).paused && !dice_.OneIn(3)) return Resuming();
    switch (dice_.Below(8)) {
      case 0:
      case 1: return Appointing(candidate, term, Perhaps(500ms));
      case 2: return AppointingByForce(candidate, term, Perhaps(500ms));
      case 3:
      case 4: return Deposing(term, Perhaps(1s).value_or(0s));
      case 5: return Pausing();
      case 6: return DrawConfigure();
      default: return Deleting(term);
    }
  }

  Command DrawConfigure() {
    Configure configure = dice_.OneIn(2) ? Creating() : Configuring();
    configure.lock_delay = Perhaps(300ms).value_or(0s);
    configure.min_hold = Perhaps(500ms).value_or(0s);
    configure.lease_ttl_default = Perhaps(3s);
    if (dice_.OneIn(2)) configure.queue_max = static_cast<uint64_t>(dice_.Below(6));
    return configure;
  }

  std::optional<Duration> Perhaps(Duration duration) {
    if (dice_.OneIn(2)) return std::nullopt;
    return duration;
  }

  // Half of the time the term of the sitting leader.
  Term PastTermOf(const TransactionState& transaction) {
    const uint64_t latest = ElectionIn(transaction).term.value;
    return {latest - std::min(latest, static_cast<uint64_t>(dice_.Below(2)))};
  }

  Command DrawCampaign(const TransactionState& transaction, size_t candidate,
                       const std::string& session, CallId call_id) {
    Campaign campaign = CampaignBy(session, {dice_.Below(4) - 1, Value(), call_id});
    if (!dice_.OneIn(8)) campaign.opening = DrawOpening(candidate, session);
    if (dice_.OneIn(4)) campaign.after_term = PastTermOf(transaction);
    if (dice_.OneIn(4)) return Superseding(campaign);
    return campaign;
  }

  Command DrawForAll(size_t candidate, const std::string& session, CallId call_id) {
    CampaignForAll campaign = CampaignForAllBy(session, {kElection}, {0, Value(), call_id});
    if (!dice_.OneIn(8)) campaign.opening = DrawOpening(candidate, session);
    return campaign;
  }

  Campaign::Opening DrawOpening(size_t candidate, const std::string& session) {
    Campaign::Opening opening{CandidateOf(session), std::nullopt};
    if (!dice_.OneIn(4)) opening.lease_ttl = 1s * (2 + static_cast<int>(candidate));
    if (dice_.OneIn(2)) opening.previous = Id(last_sessions_[candidate]);
    return opening;
  }

  std::string NewSession(size_t candidate) {
    last_sessions_[candidate] = sessions_[candidate];
    return std::to_string(candidate) + "/" + std::to_string(++opened_);
  }

  std::string Value() { return std::string(static_cast<size_t>(1 + dice_.Below(2)), 'v'); }

  Dice& dice_;
  std::array<std::string, kCandidates> sessions_{"0", "1", "2", "3", "4", "5"};
  std::array<std::string, kCandidates> last_sessions_ = sessions_;
  int opened_ = 0;
};

class LawPropertyTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  // Time passes, now and then backwards: a database's clock may be set. Homes end silent sessions.
  void Tick(TransactionState& transaction) {
    if (dice_.OneIn(3)) transaction.now = transaction.now + 100ms * dice_.Below(8);
    if (dice_.OneIn(100)) transaction.now = transaction.now + -1s;
    if (transaction.sessions.empty() || !dice_.OneIn(2)) return;
    const auto silent = std::next(transaction.sessions.begin(),
                                  dice_.Below(static_cast<int>(transaction.sessions.size())));
    if (!silent->second.Alive()) return;
    silent->second.ended = Cause::kExpired;
    silent->second.ended_at = transaction.now;
  }

  Dice dice_{GetParam()};
  Commands commands_{dice_};
};

TEST_P(LawPropertyTest, TheInvariantsHoldAfterEveryStep) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  TransactionState transaction = Given();
  Witness witness(kLimits);

  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    LoadAgain(transaction);
    Tick(transaction);
    const TransactionState before = transaction;

    std::optional<Command> command;
    switch (dice_.Below(22)) {
      case 0: (void)EndSession(transaction, commands_.AnySession(), Cause::kSessionClosed); break;
      case 1: (void)DeposeSession(transaction, commands_.AnySession(), kOperator); break;
      case 2:
      case 3: EndSilent(transaction, commands_.AnySession(), 1); break;
      case 4: EndOrphan(transaction, commands_.AnySession(), {}); break;
      case 5: (void)Adopt(transaction, commands_.AnySession()); break;
      default:
        command = commands_.Draw(transaction);
        (void)Do(transaction, *command, kLimits);
        CheckInLine(transaction);
        CheckWakeUps(transaction);
    }

    witness.Check(before, transaction, command);
  }

  EXPECT_GT(witness.grants(), kSteps / 50) << "too few grants to have proven anything";
}

TEST_P(LawPropertyTest, ACommandAppliedTwiceChangesNothingMore) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  TransactionState transaction = Given();

  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    LoadAgain(transaction);
    Tick(transaction);
    const Command command = commands_.Draw(transaction);

    (void)Do(transaction, command, kLimits);
    const TransactionState once = transaction;
    (void)Do(transaction, command, kLimits);

    EXPECT_THAT(transaction, IsSameAs(once)) << "command " << command.index();
  }
}

// --- With only the head of the queue read ---

TEST_P(LawPropertyTest, TheHeadOfTheQueueIsEnoughToElectTheRightOne) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  TransactionState all = Given();
  Witness witness(kLimits);

  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    LoadAgain(all);
    Tick(all);
    const TransactionState before = all;
    const Command command = commands_.Draw(all);
    TransactionState whole = all;
    TransactionState decided = HeadOf(all, static_cast<size_t>(1 + dice_.Below(2)), {&command});
    const TransactionState head = decided;

    (void)Do(decided, command, kLimits);
    (void)Do(whole, command, kLimits);

    all = Saved(all, head, decided);
    witness.Check(before, all, command);
    CheckInLine(all);
    if (decided.undecided.empty()) {
      EXPECT_EQ(ElectionIn(all), ElectionIn(whole));
      EXPECT_EQ(StateIn(all).queue, StateIn(whole).queue);
    }
  }

  EXPECT_GT(witness.grants(), kSteps / 50) << "too few grants to have proven anything";
}

TEST_P(LawPropertyTest, ABatchIsDecidedCommandByCommandFromTheHeadOfTheQueue) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  TransactionState all = Given();
  int undecided = 0;

  for (int step = 0; step < kSteps / 2 && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    LoadAgain(all);
    Tick(all);
    std::vector<Command> batch;
    for (int left = 2 + dice_.Below(3); left > 0; --left) batch.push_back(commands_.Draw(all));
    std::vector<const Command*> commands;
    for (const Command& command : batch) commands.push_back(&command);
    TransactionState whole = all;
    TransactionState decided = HeadOf(all, 1, commands);
    const TransactionState head = decided;

    bool is_as_whole = true;
    for (const Command& command : batch) {
      const TransactionState before = decided;
      CheckBlocked(before, Do(decided, command, kLimits));
      CheckUndecided(decided);
      (void)Do(whole, command, kLimits);
      is_as_whole &= decided.undecided.empty();
    }

    all = Saved(all, head, decided);
    undecided += is_as_whole ? 0 : 1;
    if (!is_as_whole) continue;
    EXPECT_EQ(ElectionIn(all), ElectionIn(whole));
    EXPECT_EQ(StateIn(all).queue, StateIn(whole).queue);
  }

  EXPECT_GT(undecided, 0) << "nothing was undecided, so nothing was proven";
}

// TENURE_TEST_SEED replays one seed.
std::vector<uint64_t> Seeds() {
  if (const char* seed = std::getenv("TENURE_TEST_SEED")) return {std::strtoull(seed, nullptr, 10)};
  return {1, 2, 3, 4, 5};
}

INSTANTIATE_TEST_SUITE_P(Seeds, LawPropertyTest, ::testing::ValuesIn(Seeds()));

}  // namespace
}  // namespace tenure::testing
