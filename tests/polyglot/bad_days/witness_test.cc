#include "tests/polyglot/bad_days/witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Event = Line::Event;

constexpr auto kLease = 1000ms;

Moment At(std::chrono::milliseconds time) { return Moment(time); }

class WitnessTest : public ::testing::Test {
 protected:
  WitnessTest() {
    witness_.Add({.process = "a1", .name = "a"});
    witness_.Add({.process = "b1", .name = "b"});
  }

  void Believes(const std::string& process, uint64_t term, std::chrono::milliseconds first,
                std::chrono::milliseconds last,
                std::optional<std::chrono::milliseconds> deadline = {}) {
    Line line{.term = term, .at = At(last), .first = At(first), .last = At(last)};
    if (deadline) line.deadline = At(*deadline);
    witness_.Hear(process, line);
  }
  void Says(const std::string& process, Event event, uint64_t term, std::chrono::milliseconds at,
            const std::string& cause = "") {
    witness_.Hear(process, {.event = event, .term = term, .at = At(at), .cause = cause});
  }
  // Its renewal is sent and answered.
  void Renew(const std::string& process, std::chrono::milliseconds asked,
             std::chrono::milliseconds answered) {
    witness_.Asked(process);
    witness_.Answered(process, At(asked), kLease, At(answered));
  }
  // The first term, led by a, whose lease begins at 0.
  void ALeads() {
    Renew("a1", 0ms, 1ms);
    witness_.Elected(1, "a");
    Says("a1", Event::kLeading, 1, 2ms);
    Says("a1", Event::kWorking, 1, 2ms);
    Believes("a1", 1, 3ms, 100ms);
  }

  Witness witness_;
};

TEST_F(WitnessTest, ACorrectLifeHasNoViolation) {
  ALeads();
  Believes("a1", 1, 3ms, 899ms, 900ms);
  Believes("a1", 0, 901ms, 901ms);
  Says("a1", Event::kStop, 1, 650ms);
  Says("a1", Event::kOver, 1, 901ms, "EXPIRED");
  Says("a1", Event::kStopped, 1, 902ms);
  witness_.Vacated(1, v1::CAUSE_EXPIRED, At(1000ms));
  witness_.Elected(2, "b");
  Renew("b1", 990ms, 1001ms);
  Believes("b1", 2, 1002ms, 1100ms);
  Says("b1", Event::kLeading, 2, 1003ms);

  EXPECT_THAT(witness_.TakeViolations(), IsEmpty());
}

TEST_F(WitnessTest, ABeliefAfterTheDeadlineIsSeen) {
  ALeads();

  Believes("a1", 1, 3ms, 905ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 believes in term 1 5.0 ms after its deadline"));
}

TEST_F(WitnessTest, ADeadlineThatIsCountedFromTheAnswerIsSeenAtOnce) {
  ALeads();

  Believes("a1", 1, 3ms, 200ms, 901ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 has a deadline in term 1 that is 1.0 ms too late"));
}

TEST_F(WitnessTest, AnUnansweredRequestExtendsNothing) {
  ALeads();
  witness_.Asked("a1");

  Believes("a1", 1, 3ms, 950ms);

  EXPECT_THAT(witness_.TakeViolations(), ElementsAre(HasSubstr("after its deadline")));
}

TEST_F(WitnessTest, AnAnswerExtendsTheDeadlineFromItsArrivalOn) {
  ALeads();
  Renew("a1", 500ms, 950ms);

  Believes("a1", 1, 3ms, 920ms);
  Believes("a1", 1, 3ms, 1399ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 believes in term 1 20.0 ms after its deadline"));
}

TEST_F(WitnessTest, ABeliefWithoutAnyAnswerIsSeen) {
  Believes("a1", 1, 3ms, 4ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 believes in term 1, and nothing was answered"));
}

TEST_F(WitnessTest, ABeliefThatComesBackIsSeen) {
  ALeads();
  Believes("a1", 0, 110ms, 110ms);

  Believes("a1", 1, 120ms, 130ms);

  EXPECT_THAT(witness_.TakeViolations(), ElementsAre("a1 believes in term 1 again"));
}

TEST_F(WitnessTest, ABeliefAfterItsReportedEndIsSeen) {
  ALeads();
  Says("a1", Event::kStopped, 1, 150ms);
  Says("a1", Event::kOver, 1, 160ms, "RESIGNED");

  Believes("a1", 1, 3ms, 170ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 believes in term 1 10.0 ms after it reported the end of its term"));
}

TEST_F(WitnessTest, ABeliefAfterTheResignWasSentIsSeen) {
  ALeads();
  witness_.Resigned("a1", 1, At(150ms));
  witness_.Resigned("a1", 1, At(400ms));  // once more

  Believes("a1", 1, 3ms, 170ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 believes in term 1 20.0 ms after its Resign was on its way"));
}

TEST_F(WitnessTest, TwoBeliefsAtATimeAreSeen) {
  ALeads();
  Believes("a1", 1, 3ms, 600ms);
  witness_.Vacated(1, v1::CAUSE_RESIGNED, At(610ms));
  witness_.Elected(2, "b");
  Renew("b1", 500ms, 501ms);

  Believes("b1", 2, 590ms, 700ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 believes in term 1 10.0 ms after b1 began to in term 2"));
}

TEST_F(WitnessTest, ABeliefInATermThatTheServiceHasEndedIsSeen) {
  ALeads();
  Believes("a1", 1, 3ms, 600ms);

  witness_.Vacated(1, v1::CAUSE_EXPIRED, At(590ms));

  EXPECT_THAT(witness_.TakeViolations(), ElementsAre(HasSubstr("10.0 ms after the service has")));
}

TEST_F(WitnessTest, AnOperatorDoesNotWaitForTheHolder) {
  ALeads();
  Believes("a1", 1, 3ms, 600ms);

  witness_.Vacated(1, v1::CAUSE_DEPOSED, At(590ms));
  witness_.Elected(2, "b");
  Renew("b1", 580ms, 591ms);
  Believes("b1", 2, 592ms, 700ms);

  EXPECT_THAT(witness_.TakeViolations(), IsEmpty());
}

TEST_F(WitnessTest, ABeliefInAnothersTermIsSeen) {
  Renew("b1", 0ms, 1ms);
  witness_.Elected(1, "a");

  Believes("b1", 1, 2ms, 3ms);

  EXPECT_THAT(witness_.TakeViolations(), ElementsAre("b1 believes in term 1, which is a's"));
}

TEST_F(WitnessTest, EachCallbackMustComeOnceAndInOrder) {
  ALeads();
  Says("a1", Event::kLeading, 1, 4ms);
  Says("a1", Event::kOver, 1, 5ms, "RESIGNED");
  Says("a1", Event::kLeading, 3, 6ms);
  Says("a1", Event::kWorking, 3, 6ms);
  Says("a1", Event::kStopped, 3, 7ms);
  Says("a1", Event::kStop, 3, 8ms);
  Says("a1", Event::kLeading, 2, 9ms);
  Says("a1", Event::kStop, 4, 10ms);

  EXPECT_THAT(witness_.TakeViolations(),
              ElementsAre("a1 says of term 1 the same twice",
                          "a1 says of term 1 that it has resigned, and its work goes on",
                          "a1 says of term 3 that it leads, and earlier work goes on",
                          "a1 says of term 3 to stop, after it has stopped",
                          "a1 says of term 2 that it leads, and earlier work goes on",
                          "a1 says of term 2 that it leads, after a later term",
                          "a1 says of term 4 something before it has led in it, or begun to work"));
}

TEST_F(WitnessTest, WorkThatHasNotBegunNeedNotStop) {
  witness_.Elected(1, "a");
  Says("a1", Event::kLeading, 1, 2ms);
  Says("a1", Event::kOver, 1, 3ms, "RESIGNED");
  Says("a1", Event::kLeading, 2, 4ms);

  EXPECT_THAT(witness_.TakeViolations(), IsEmpty());
}

TEST_F(WitnessTest, AKilledProcessNeedNotReportItsEnd) {
  witness_.Add({.process = "run1", .name = "run", .may_be_killed = true});
  Says("run1", Event::kLeading, 1, 2ms);
  Says("run1", Event::kWorking, 1, 3ms);
  Says("run1", Event::kOver, 1, 4ms, "EXPIRED");
  Says("run1", Event::kOver, 2, 5ms, "EXPIRED");
  Says("run1", Event::kLeading, 3, 6ms);

  EXPECT_THAT(witness_.TakeViolations(), IsEmpty());
}

TEST_F(WitnessTest, ACandidateRefusedForGoodLeadsNoMore) {
  ALeads();
  Says("a1", Event::kOver, 1, 10ms, "SUPERSEDED");
  Says("a1", Event::kStopped, 1, 11ms);
  Says("a1", Event::kRefused, 0, 12ms);

  Says("a1", Event::kLeading, 2, 13ms);

  EXPECT_THAT(
      witness_.TakeViolations(),
      ElementsAre("a1 says of term 2 that it leads, and the service has refused it for good"));
}

TEST_F(WitnessTest, AViolationIsReportedOnce) {
  witness_.Accuse("a1 lies");

  EXPECT_THAT(witness_.TakeViolations(), ElementsAre("a1 lies"));
  EXPECT_THAT(witness_.TakeViolations(), IsEmpty());
}

}  // namespace
}  // namespace tenure::testing
