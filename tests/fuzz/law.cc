// The law, under any script of what candidates, operators and time may do. The witness of
// core/law/law_witness_testing.h keeps books of its own, and compares them with the law's after
// each step; besides, each answer must be true, and each command repeatable.
//
// A line of the input is a step: a verb, a candidate (a to f), one of its sessions (0 to 9), and
// what makes it special. For instance, `ca1+` is: candidate a campaigns with its session 1, with
// priority 1. `Script::Do` has all verbs, and `Has` shows what may follow.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/law/law_head_testing.h"
#include "core/law/law_testing.h"
#include "core/law/law_witness_testing.h"
#include "tests/fuzz/require.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kCandidates = "abcdef";
constexpr size_t kStepsMax = 1'000;
const Limits kLimits{.queue_max = 4};

// One step as it is written.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  [[nodiscard]] char verb() const { return At(0); }
  [[nodiscard]] std::string candidate() const {
    return {kCandidates[static_cast<uint8_t>(At(1) - 'a') % kCandidates.size()]};
  }
  [[nodiscard]] std::string session() const { return SessionOf(Digit(2)); }
  [[nodiscard]] std::string last_session() const { return SessionOf((Digit(2) + 9) % 10); }
  // Whether this flag follows the session.
  [[nodiscard]] bool Has(char special) const {
    return text_.size() > 3 && text_.substr(3).find(special) != std::string_view::npos;
  }
  [[nodiscard]] int Digit(size_t index) const { return static_cast<uint8_t>(At(index) - '0') % 10; }

 private:
  [[nodiscard]] char At(size_t index) const { return index < text_.size() ? text_[index] : '0'; }
  [[nodiscard]] std::string SessionOf(int number) const {
    return candidate() + "/" + std::to_string(number);
  }

  const std::string_view text_;
};

std::string ValueIn(const Line& line) { return line.Has('w') ? "w" : "v"; }

CallId CallIn(const Line& line) { return {line.Has('2') ? 2u : 1u}; }

Standing StandingIn(const Line& line) {
  return {line.Has('-') ? -1 : line.Has('+') ? 1 : 0, ValueIn(line), CallIn(line)};
}

std::optional<Campaign::Opening> OpeningIn(const Line& line) {
  if (line.Has('o')) return std::nullopt;  // opened before, or not at all
  Campaign::Opening opening{line.candidate(), std::nullopt};
  if (line.Has('t')) opening.lease_ttl = 2s;
  if (line.Has('l')) opening.previous = Id(line.last_session());
  return opening;
}

Term TermIn(const Line& line, Term term) {
  if (line.Has('<')) return {term.value - 1};
  return line.Has('>') ? term.Next() : term;
}

// A term that has been granted.
std::optional<Term> AfterTermIn(const Line& line, Term term) {
  if (line.Has('n')) return term;
  return line.Has('p') && term > Term{0} ? std::optional(Term{term.value - 1}) : std::nullopt;
}

Campaign CampaignIn(const Line& line, Term term) {
  Campaign campaign = CampaignBy(line.session(), StandingIn(line));
  campaign.opening = OpeningIn(line);
  campaign.after_term = AfterTermIn(line, term);
  return line.Has('s') ? Superseding(campaign) : campaign;
}

CampaignForAll CampaignForAllIn(const Line& line) {
  CampaignForAll campaign = CampaignForAllBy(line.session(), {kElection}, StandingIn(line));
  campaign.opening = OpeningIn(line);
  return campaign;
}

Configure ConfigureIn(const Line& line) {
  Configure configure = line.Has('c') ? Creating() : Configuring();
  if (line.Has('d')) configure.lock_delay = 100ms * line.Digit(1);
  if (line.Has('h')) configure.min_hold = 100ms * line.Digit(1);
  if (line.Has('t')) configure.lease_ttl_default = 1s * line.Digit(1);
  if (line.Has('m')) configure.lease_ttl_max = 1s * line.Digit(1);
  if (line.Has('q')) configure.queue_max = static_cast<uint64_t>(line.Digit(1));
  return configure;
}

// The command of a line; nothing if it has none.
std::optional<Command> CommandIn(const Line& line, Term term) {
  const Term named = TermIn(line, term);
  const std::optional<Duration> reserve_for =
      line.Has('r') ? std::optional<Duration>(500ms) : std::nullopt;
  switch (line.verb()) {
    case 'c': return CampaignIn(line, term);
    case 'f': return CampaignForAllIn(line);
    case 'p': return ProclaimBy(line.session(), named, ValueIn(line));
    case 'r': return ResignBy(line.session(), line.Has('t') ? std::optional(named) : std::nullopt);
    case 'w': return WithdrawalBy(line.session(), CallIn(line));
    case 'k': return line.Has('-') ? Reconciliation() : ReconciliationOf(line.session());
    case 'a': return Appointing(line.candidate(), named, reserve_for);
    case 'A': return AppointingByForce(line.candidate(), named, reserve_for);
    case 'd': return Deposing(named, line.Has('k') ? 1s : line.Has('K') ? 30s : 0s);
    case 'z': return Pausing();
    case 'u': return Resuming();
    case 's': return ConfigureIn(line);
    case 'D': return Deleting(named);
    default: return std::nullopt;
  }
}

bool HasEnded(const TransactionState& transaction, const SessionId& id) {
  const auto found = transaction.sessions.find(id);
  return found != transaction.sessions.end() && !found->second.Alive();
}

bool Leads(const TransactionState& transaction, const SessionId& id) {
  const auto& leader = ElectionIn(transaction).leader;
  return leader && leader->session == id;
}

// Checks that an answer is true.
struct Truth {
  const TransactionState& before;
  const TransactionState& after;
  const Command& command;

  void operator()(const CampaignAnswer& answer) const {
    const auto& campaign = std::get<Campaign>(command);
    Require(!HasEnded(before, campaign.session), "an ended session does not campaign");
    Require(answer.elected == Leads(after, campaign.session), "an elected session leads");
    Require(!answer.elected || !(ElectionIn(after).term <= campaign.after_term),
            "... after the term that it names");
    Require(answer.session == after.sessions.at(campaign.session), "the session is as it is");
    Require(answer.session.Alive(), "the session lives");
  }
  void operator()(const CampaignForAllAnswer& answer) const {
    const auto& campaign = std::get<CampaignForAll>(command);
    Require(!HasEnded(before, campaign.session), "an ended session does not campaign");
    Require(answer.leaderships.empty() != answer.blocked.empty(), "all, or none");
    Require(answer.blocked.empty() == Leads(after, campaign.session), "an elected session leads");
  }
  void operator()(const ProclaimAnswer& answer) const {
    const auto& proclaim = std::get<Proclaim>(command);
    Require(!HasEnded(before, proclaim.session), "an ended session proclaims nothing");
    Require(Leads(after, proclaim.session), "leaders proclaim");
    Require(answer.leadership.term == proclaim.term, "in their terms");
    Require(ElectionIn(after).leader->value == proclaim.value, "what is proclaimed is so");
  }
  void operator()(const ResignAnswer& answer) const {
    const auto& resign = std::get<Resign>(command);
    Require(!Leads(after, resign.session) || resign.term, "a session that resigns does not lead");
    if (answer.outcome != ResignOutcome::kResigned) return;
    Require(!Leads(after, resign.session), "a session that resigned does not lead");
    // The same command may have elected it, since it first brings the election in line.
    Require(std::ranges::any_of(after.events,
                                [&](const Event& event) {
                                  return event.type == EventType::kVacated &&
                                         event.cause == Cause::kResigned &&
                                         event.term == answer.term &&
                                         event.leader.session == resign.session;
                                }),
            "leaders resign");
  }
  void operator()(const AdminAnswer& answer) const {
    Require(answer.changed == !after.admin_changes.empty(), "what changed is recorded");
    Require(answer.election == ElectionIn(after), "the election is as it is");
  }
  void operator()(const Done& /*answer*/) const {}
};

// Plays the steps in one election.
class Script {
 public:
  void Do(const Line& line) {
    LoadAgain(state_);
    switch (line.verb()) {
      case 't': state_.now = state_.now + 100ms * line.Digit(1); return;
      case 'T': state_.now = state_.now + 3s * line.Digit(1); return;
      case 'b': state_.now = state_.now + -1s; return;  // the database's clock is set back
      case 'h': head_size_ = static_cast<size_t>(line.Digit(1)); return;
      default: break;
    }
    const TransactionState before = state_;
    const auto command = CommandIn(line, ElectionIn(state_).term);
    if (command) {
      DoCommand(*command);
    } else {
      DoToSession(line);
    }
    witness_.Check(before, state_, command);
    if (!command) return;
    CheckInLine(state_);
    if (head_size_ == 0) CheckWakeUps(state_);
  }

 private:
  void DoCommand(const Command& command) {
    const TransactionState before = state_;
    const TransactionState read = head_size_ == 0 ? before : HeadOf(before, head_size_, {&command});
    TransactionState decided = read;
    const auto answer = Apply(decided, kLimits, command);
    CheckUndecided(decided);
    if (answer) std::visit(Truth{before, decided, command}, *answer);

    TransactionState twice = decided;
    const auto again = Apply(twice, kLimits, command);
    Require(again.has_value() || !answer.has_value() || IsMovedOn(command), "it may be repeated");
    EXPECT_THAT(twice, IsSameAs(decided));
    if (head_size_ == 0) {
      state_ = decided;
      return;
    }
    state_ = Saved(before, read, decided);
    if (!decided.undecided.empty()) return;
    TransactionState whole = before;
    (void)Apply(whole, kLimits, command);
    EXPECT_EQ(ElectionIn(state_), ElectionIn(whole)) << "the head of the queue is enough";
    EXPECT_EQ(StateIn(state_).queue, StateIn(whole).queue);
  }

  // Whether a command may have ended the term, or the election, that it names.
  static bool IsMovedOn(const Command& command) {
    return std::holds_alternative<Appoint>(command) || std::holds_alternative<Delete>(command);
  }

  void DoToSession(const Line& line) {
    const SessionId id = Id(line.session());
    switch (line.verb()) {
      case 'n': return DoAdopt(id);
      case 'e': (void)EndSession(state_, id, Cause::kSessionClosed); return;
      case 'o': (void)DeposeSession(state_, id, kOperator); return;
      case 'x': EndSilent(state_, id, static_cast<uint64_t>(line.Digit(1)) + 1); return;
      case 'j': EndOrphan(state_, id, {}); return;
      default: return;
    }
  }

  void DoAdopt(const SessionId& id) {
    const bool known = state_.sessions.contains(id);
    const bool over = HasEnded(state_, id);
    const auto adopted = Adopt(state_, id);
    Require(adopted.has_value() == (known && !over), "a session that lives moves, and no other");
    if (!adopted) return;
    Require(*adopted == state_.sessions.at(id), "the session is as it is");
  }

  TransactionState state_ = Given();
  Witness witness_{kLimits};
  size_t head_size_ = 0;  // of the queue that is read; 0: all of it
};

void Play(std::string_view text) {
  GTEST_FLAG_SET(throw_on_failure, true);
  Script script;
  for (size_t step = 0; step < kStepsMax && !text.empty(); ++step) {
    const std::string_view line = TakeUntil(text, '\n');
    if (!line.empty()) script.Do(Line(line));
  }
}

}  // namespace
}  // namespace tenure::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenure::testing::Play({reinterpret_cast<const char*>(data), size});
  return 0;
}
