#include "tests/polyglot/bad_days/days.h"

#include <algorithm>
#include <thread>

#include "tests/support/administration.h"

namespace tenure::testing {
namespace {

using Event = Line::Event;
using State = Link::State;

constexpr auto kLease = Cast::kLease;
// More than the tenth of the lease by which a holder stops before the service lets others in, and
// less than the sixth after which it asks another replica.
constexpr auto kLate = kLease * 7 / 50;
constexpr std::chrono::hours kStep{1};

void ExpectNext(Cast& cast) {
  Cast::Expect(cast.witness().WaitForTermAfter(cast.term()), "another term begins");
}

void ExpectOver(Cast& cast) {
  Cast::Expect(cast.Says(cast.leader(), Event::kOver, cast.term()),
               "it says that its term has ended");
}

// Nobody else gets the seat of a holder whose work has ended in an outage.
void ExpectItLeadsOn(Cast& cast) {
  ExpectNext(cast);
  const uint64_t next = cast.witness().latest_term();
  Cast::Expect(cast.Says(cast.leader(), Event::kLeading, next), "it leads on in the next term");
}

// --- What befalls one candidate ---

// Holds back all answers from now on, and waits until a renewal was sent. None is under way before:
// a client that misses its answer may never send another one.
void HoldTheAnswer(Cast& cast) {
  const std::string& process = cast.leader().stand().process;
  const size_t answers = cast.witness().answers(process);
  Cast::Expect(cast.witness().WaitForAnswers(process, answers + 1), "its renewal is answered");
  const size_t before = cast.witness().requests(process);
  cast.leader().wire().Become(State::kHeld);
  Cast::Expect(cast.witness().WaitForRequests(process, before + 1), "it renews");
}

// While the answer to its renewal is on the way to it.
void StoppedPastItsLease(Cast& cast) {
  HoldTheAnswer(cast);
  cast.leader().Signal(SIGSTOP);
  cast.leader().wire().Become(State::kWhole);
  ExpectNext(cast);

  cast.leader().Signal(SIGCONT);
  ExpectOver(cast);
}

// Whether it keeps its seat for longer than a lease.
bool KeepsItsSeat(Cast& cast) {
  const std::string& process = cast.leader().stand().process;
  constexpr size_t kRenewals = 4;
  const size_t before = cast.witness().answers(process);
  const bool renewed = cast.witness().WaitForAnswers(process, before + kRenewals);
  return renewed && !cast.HasSaid(cast.leader(), Event::kOver, cast.term());
}

void ClockSetAhead(Cast& cast) {
  cast.leader().MoveClock(kStep);
  if (cast.language().watches_time_of_day) return ExpectOver(cast);
  Cast::Expect(KeepsItsSeat(cast), "it keeps its seat");
}

void ClockSetBack(Cast& cast) {
  cast.leader().MoveClock(-kStep);
  const bool kept = KeepsItsSeat(cast);
  if (cast.language().waits_for_time_of_day) cast.ReplaceLeader();
  Cast::Expect(kept, "it keeps its seat");
}

void AnswersLostAfterTheCommit(Cast& cast) {
  cast.leader().wire().Become(State::kMute);
  ExpectOver(cast);
  ExpectNext(cast);
  cast.leader().wire().Become(State::kWhole);
}

// A late answer first: a client that counts from it believes for too long when no more come.
void CutOff(Cast& cast) {
  Wire& wire = cast.leader().wire();
  HoldTheAnswer(cast);
  std::this_thread::sleep_for(kLate);
  const std::string& process = cast.leader().stand().process;
  const size_t before = cast.witness().answers(process);
  wire.Become(State::kWhole);
  Cast::Expect(cast.witness().WaitForAnswers(process, before + 1), "the answer comes");
  wire.Become(State::kDark);
  ExpectNext(cast);
  ExpectOver(cast);
  wire.Become(State::kWhole);
}

void ResignLostOnItsWay(Cast& cast) {
  Player& leader = cast.leader();
  leader.wire().Become(State::kDeaf);
  leader.Resign();
  ExpectOver(cast);
  leader.wire().Become(State::kWhole);
  ExpectNext(cast);
}

void ResignedAndTheAnswerLost(Cast& cast) {
  Player& leader = cast.leader();
  leader.wire().Become(State::kMute);
  leader.Resign();
  ExpectNext(cast);
  ExpectOver(cast);
  leader.wire().Become(State::kWhole);
}

// The next elector of the same process gets the answer to the earlier renewal.
void ResignedAndStoodAgain(Cast& cast) {
  HoldTheAnswer(cast);
  cast.leader().StandAgain();
  ExpectOver(cast);
  ExpectNext(cast);
  cast.leader().wire().Become(State::kWhole);
}

// The waiting candidate is granted the seat, and does not hear of it before its lease ends.
void ExpectLateGrant(Cast& cast) {
  cast.leader().Resign();
  Cast::Expect(cast.witness().WaitForEndOf(cast.term() + 1), "the grant expires");
  Cast::Expect(cast.witness().WaitForTermAfter(cast.term() + 1), "another term begins");
}

void LateGrant(Cast& cast) {
  cast.other().wire().Become(State::kHeld);
  ExpectLateGrant(cast);
  cast.other().wire().Become(State::kWhole);
}

void GrantedWhileStopped(Cast& cast) {
  cast.other().Signal(SIGSTOP);
  ExpectLateGrant(cast);
  cast.other().Signal(SIGCONT);
}

// A new process of the leader's name takes over its seat. Returns the old one.
std::unique_ptr<Player> Supersede(Cast& cast, const Endpoints& endpoints = {}) {
  auto former = cast.SupersedeLeader(endpoints);
  ExpectNext(cast);
  Cast::Expect(cast.Says(*former, Event::kOver, cast.term()), "it says that its term has ended");
  if (cast.witness().cause_of(cast.term()) != v1::CAUSE_SUPERSEDED) {
    // Its lease had ended by itself. Standing again, it may have superseded the newer one in turn,
    // which then never stands again.
    former.reset();
    cast.ReplaceLeader();
    throw Missed("it loses its seat before it is superseded");
  }
  return former;
}

void Superseded(Cast& cast) {
  const auto former = Supersede(cast);
  if (former->language().is_tenure_run) {
    Cast::Expect(Eventually([&] { return !former->Running(); }), "it ends");
  } else {
    Cast::Expect(cast.Says(*former, Event::kRefused, 0), "it says that it is refused for good");
    Cast::Expect(former->Quit(), "it ends when asked to");
  }
}

void Deposed(Cast& cast) {
  Depose(*cast.stage().replicas().front(), {.election = cast.election(), .term = cast.term()});
  ExpectNext(cast);
  ExpectOver(cast);
}

void AskedToMakeWay(Cast& cast) {
  Appoint(
      *cast.stage().replicas().front(),
      {.election = cast.election(), .term = cast.term(), .candidate = cast.other().stand().name});
  Cast::Expect(cast.Says(cast.leader(), Event::kStop, cast.term()), "it is asked to stop");
  ExpectNext(cast);
  ExpectOver(cast);
}

// Nothing is answered for a time that begins this long after the answer to a renewal.
void Outage(Cast& cast, State state, std::chrono::milliseconds begins,
            std::chrono::milliseconds lasts) {
  const std::string& process = cast.leader().stand().process;
  const size_t answers = cast.witness().answers(process);
  Cast::Expect(cast.witness().WaitForAnswers(process, answers + 1), "its renewal is answered");
  std::this_thread::sleep_for(begins);
  for (Player* player : {&cast.leader(), &cast.other()}) player->wire().Become(state);
  std::this_thread::sleep_for(lasts);
  for (Player* player : {&cast.leader(), &cast.other()}) player->wire().Become(State::kWhole);
}

// If the work was asked to stop, the term ends when it does, even if renewals are answered again.
// The same process may lead in the next one.
bool WorkGoesOn(Cast& cast) {
  if (!cast.HasSaid(cast.leader(), Event::kStop, cast.term())) return true;
  cast.leader().Linger(false);
  ExpectNext(cast);
  return false;
}

// The next renewal is lost. The one after it is in time for the work.
void CutOffForThreeTenthsOfALease(Cast& cast) {
  Outage(cast, State::kDark, kLease / 10, kLease * 3 / 10);
  Cast::Expect(KeepsItsSeat(cast), "it keeps its seat");
  Cast::Expect(WorkGoesOn(cast), "its work goes on");
}

void FrozenForAlmostHalfALease(Cast& cast) {
  Outage(cast, State::kHeld, cast.AnyMoment(), kLease * 9 / 20);
  (void)KeepsItsSeat(cast);
  (void)WorkGoesOn(cast);
}

// It keeps its seat. Then it resigns, and has to lead and work again: the term in which its work
// cannot start does not count.
void ItsLanguagesOwnTrouble(Cast& cast) {
  constexpr int kTermsMax = 6;
  const Player& troubled = cast.leader();
  cast.leader().MakeTrouble();
  Cast::Expect(KeepsItsSeat(cast), "it keeps its seat");
  for (int terms = 0; terms < kTermsMax; ++terms) {
    cast.leader().Resign();
    ExpectNext(cast);
    cast.Settle();
    if (&cast.leader() != &troubled) continue;
    const auto has_said = [&](Event event) { return cast.HasSaid(troubled, event, cast.term()); };
    (void)Eventually([&] { return has_said(Event::kWorking) || has_said(Event::kOver); });
    if (has_said(Event::kWorking)) return;
  }
  throw Missed("it does not lead and work again");
}

// --- What candidates find where they look for the service ---

// A new process leads, with these endpoints.
Player& LetLead(Cast& cast, const Endpoints& endpoints) {
  (void)Supersede(cast, endpoints);
  Player& newer = cast.leader();
  cast.Settle();
  Cast::Expect(&cast.leader() == &newer, "it keeps the seat that it has taken over");
  return newer;
}

void WrongPorts(Cast& cast) {
  const std::string nobody = "127.0.0.1:" + std::to_string(FreePort());
  const std::string http = cast.stage().replicas().front()->http_endpoint();
  const Player& leader = LetLead(cast, {.wrong = nobody + "," + http});
  const bool kept = KeepsItsSeat(cast);
  const auto warnings = leader.Warnings();
  cast.ReplaceLeader();
  Cast::Expect(kept, "it keeps its seat");
  for (const std::string& endpoint : {nobody, http}) {
    const auto named = std::ranges::count_if(warnings, [&](const std::string& warning) {
      return warning.starts_with("cannot use " + endpoint + ": ");
    });
    Cast::Expect(named == 1, "it names " + endpoint + " once");
  }
}

// The other one leads in the meantime.
void EndpointsThatComeUpLate(Cast& cast) {
  cast.ReplaceLeader({.kind = Wire::Kind::kClosed});
  Player& late = cast.leader();
  ExpectNext(cast);
  const auto warnings = late.Warnings();
  late.wire().Open();
  cast.Settle();
  Cast::Expect(!warnings.empty(), "it names an endpoint that it cannot use");
  for (const std::string& warning : warnings) {
    Cast::Expect(std::ranges::count(warnings, warning) == 1, "it says this once: " + warning);
  }
}

void ANameThatMoves(Cast& cast) {
  Player& leader = LetLead(cast, {.kind = Wire::Kind::kOneName});
  bool kept = true;
  for (size_t replica = 0; replica < cast.stage().replicas().size() && kept; ++replica) {
    leader.Move(replica);
    kept = KeepsItsSeat(cast);
  }
  cast.ReplaceLeader();
  Cast::Expect(kept, "it keeps its seat");
}

// --- What befalls the service ---

void KillReplicas(Stage& stage) {
  for (const auto& replica : stage.replicas()) replica->Kill();
}

void StartReplicas(Stage& stage) {
  for (const auto& replica : stage.replicas()) replica->StartWithoutWaiting();
  for (const auto& replica : stage.replicas()) replica->WaitUntilReady();
}

// Leaders that used it go on with the other one.
void ExpectRenewalsElsewhere(Cast& cast) { (void)KeepsItsSeat(cast); }

}  // namespace

const std::vector<Day>& AllDays() {
  static const std::vector<Day> days = {
      {.name = "stopped past its lease", .play = StoppedPastItsLease},
      {.name = "clock set ahead", .play = ClockSetAhead},
      {.name = "clock set back", .play = ClockSetBack},
      {.name = "answers lost after the commit", .lingers = true, .play = AnswersLostAfterTheCommit},
      {.name = "cut off", .lingers = true, .play = CutOff},
      {.name = "cut off for 0.3 of a lease", .lingers = true, .play = CutOffForThreeTenthsOfALease},
      {.name = "frozen for 0.45 of a lease", .lingers = true, .play = FrozenForAlmostHalfALease},
      {.name = "resign lost on its way", .play = ResignLostOnItsWay},
      {.name = "resigned, and the answer lost", .play = ResignedAndTheAnswerLost},
      {.name = "resigned, and stood again", .play = ResignedAndStoodAgain},
      {.name = "a late grant", .play = LateGrant},
      {.name = "granted while it was stopped", .play = GrantedWhileStopped},
      {.name = "superseded", .play = Superseded},
      {.name = "deposed", .play = Deposed},
      {.name = "asked to make way", .play = AskedToMakeWay},
      {.name = "its language's own trouble", .play = ItsLanguagesOwnTrouble},
      {.name = "wrong ports among the endpoints", .play = WrongPorts},
      {.name = "endpoints that come up late", .play = EndpointsThatComeUpLate},
      {.name = "a name that moves", .play = ANameThatMoves},
      {.name = "a replica hangs",
       .play = ExpectRenewalsElsewhere,
       .strike = [](Stage& stage) { stage.replicas().front()->process().Signal(SIGSTOP); },
       .heal = [](Stage& stage) { stage.replicas().front()->process().Signal(SIGCONT); }},
      {.name = "all replicas gone for half a lease",
       .play = [](Cast&) { std::this_thread::sleep_for(kLease / 2); },
       .strike = KillReplicas,
       .heal = StartReplicas},
      {.name = "all replicas gone for two leases",
       .play =
           [](Cast& cast) {
             std::this_thread::sleep_for(2 * kLease);
             ExpectOver(cast);
           },
       .afterwards = ExpectItLeadsOn,
       .strike = KillReplicas,
       .heal = StartReplicas},
      {.name = "the database gone for ten leases",
       .lingers = true,
       .play =
           [](Cast& cast) {
             ExpectOver(cast);
             std::this_thread::sleep_for(10 * kLease);
           },
       .afterwards = ExpectItLeadsOn,
       .strike = [](Stage& stage) { stage.database().Kill(); },
       .heal = [](Stage& stage) { stage.database().Start(); }},
  };
  return days;
}

}  // namespace tenure::testing
