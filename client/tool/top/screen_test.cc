#include "client/tool/top/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "client/tool/words.h"
#include "proto/time.h"

namespace tenure::top {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Kind = Key::Kind;

constexpr DbTime kNow{1'777'000'000s};

v1::Election LedBy(const std::string& name, uint64_t term, const std::string& leader,
                   Duration leads_for = 1h, Duration lease_left = 8s) {
  v1::Election election;
  election.set_name(name);
  election.set_term(term);
  election.mutable_leader()->set_candidate(leader);
  *election.mutable_leader()->mutable_elected_time() =
      ToProto(DbTime{kNow.since_epoch - leads_for});
  *election.mutable_lease_left() = ToProto(lease_left);
  return election;
}

v1::Election Vacant(const std::string& name, uint64_t term) {
  v1::Election election;
  election.set_name(name);
  election.set_term(term);
  return election;
}

v1::Event Change(const std::string& election, v1::Event::Type type, uint64_t term,
                 const std::string& candidate, v1::Cause cause = v1::CAUSE_UNSPECIFIED) {
  v1::Event event;
  event.set_election(election);
  event.set_type(type);
  event.set_cause(cause);
  event.mutable_leadership()->set_term(term);
  event.mutable_leadership()->set_candidate(candidate);
  *event.mutable_time() = ToProto(kNow);
  return event;
}

Scene SceneOf(std::vector<v1::Election> elections, std::deque<v1::Event> changes = {}) {
  Scene scene;
  scene.endpoint = "db-1:7070";
  scene.now = kNow;
  scene.elections = std::move(elections);
  scene.changes = std::move(changes);
  scene.read = true;
  return scene;
}

Scene Many(size_t count) {
  std::vector<v1::Election> elections;
  for (size_t i = 0; i < count; ++i) {
    elections.push_back(LedBy("e" + std::to_string(100 + i), 1, "a"));
  }
  return SceneOf(std::move(elections));
}

auto Text(const auto& matcher) { return Field(&Line::text, matcher); }
auto Toned(Tone tone) { return Field(&Line::tone, tone); }

// --- What is shown ---

TEST(RenderTest, EachElectionIsShownInColumns) {
  v1::Election orders = LedBy("orders", 7, "host-7:4242", 3h + 12min, 8200ms);
  orders.set_candidates(2);

  const Screen screen = Render(SceneOf({orders, Vacant("payments", 12)}), {}, {80, 24});

  EXPECT_EQ(screen[1].text, "2 elections: 1 led, 1 vacant, 0 paused; 2 candidates waiting");
  EXPECT_THAT(screen[2].text,
              StartsWith("ELECTION  LEADER       TERM  LED FOR  LEASE  QUEUE  STATE"));
  EXPECT_EQ(screen[3].text, "orders    host-7:4242     7   3h 12m   8.2s      2");
  EXPECT_EQ(screen[4].text, "payments  -              12        -      -      0  vacant");
}

TEST(RenderTest, TheTitleHasTheServerAndThePrefix) {
  Scene scene = Many(1);
  scene.prefix = "jobs/";

  EXPECT_THAT(Render(scene, {}, {80, 24}).front(),
              AllOf(Text(StartsWith("tenure top  db-1:7070  'jobs/'")), Toned(Tone::kTitle)));
}

TEST(RenderTest, AnythingUnusualHasAColourAndAWord) {
  v1::Election paused = LedBy("b", 1, "x");
  paused.set_paused(true);
  v1::Election handover = LedBy("c", 1, "x");
  handover.mutable_appointment()->set_candidate("y");
  v1::Election reserved = Vacant("d", 1);
  reserved.mutable_appointment()->set_candidate("y");
  *reserved.mutable_appointment()->mutable_reserved_until() = ToProto(kNow + Duration(25s));
  v1::Election kept_empty = Vacant("e", 1);
  *kept_empty.mutable_vacant_until() = ToProto(kNow + Duration(90s));

  const Screen screen =
      Render(SceneOf({LedBy("a", 1, "x"), paused, handover, reserved, kept_empty}), {}, {80, 24});

  EXPECT_THAT(screen[3], Toned(Tone::kPlain));
  EXPECT_THAT(screen[4], AllOf(Text(EndsWith("  paused")), Toned(Tone::kNotice)));
  EXPECT_THAT(screen[5], AllOf(Text(EndsWith("  handover to y")), Toned(Tone::kNotice)));
  EXPECT_THAT(screen[6], AllOf(Text(EndsWith("  vacant, kept for y (25s)")), Toned(Tone::kAlarm)));
  EXPECT_THAT(screen[7],
              AllOf(Text(EndsWith("  vacant, kept empty (1m 30s)")), Toned(Tone::kAlarm)));
}

TEST(RenderTest, TheLatestChangesAreShownBelow) {
  v1::Event asked = Change("a", v1::Event::TYPE_HANDOVER_ASKED, 2, "y");
  asked.mutable_leadership()->set_successor("z");
  const Scene scene = SceneOf({LedBy("a", 2, "y")},
                              {asked, Change("a", v1::Event::TYPE_ELECTED, 2, "y"),
                               Change("a", v1::Event::TYPE_VACATED, 1, "x", v1::CAUSE_EXPIRED)});

  const Screen screen = Render(scene, {}, {80, 24});

  EXPECT_THAT(screen[4], AllOf(Text(StartsWith("LATEST CHANGES")), Toned(Tone::kHeader)));
  EXPECT_THAT(screen[5].text, EndsWith("  a  HANDOVER_ASKED y, term 2: for z"));
  EXPECT_THAT(screen[6].text, EndsWith("  a  ELECTED y, term 2"));
  EXPECT_THAT(screen[7].text, EndsWith("  a  VACATED x, term 1: EXPIRED"));
}

TEST(RenderTest, ADisconnectedScreenSaysSoAndDoesNotGuessLeases) {
  Scene scene = SceneOf({LedBy("a", 1, "x")});
  scene.disconnected = "failed to connect";
  scene.disconnected_for = 12s;

  const Screen screen = Render(scene, {}, {80, 24});

  EXPECT_THAT(screen[1], AllOf(Text("DISCONNECTED for 12s, trying again: failed to connect"),
                               Toned(Tone::kAlarm)));
  EXPECT_THAT(screen[3], AllOf(Text(Not(HasSubstr("8.0s"))), Toned(Tone::kQuiet)));
}

TEST(RenderTest, TheScreenSaysThatItIsReadingUntilItHasRead) {
  EXPECT_EQ(Render(Scene{}, {}, {80, 24})[1].text, "reading ...");
}

TEST(RenderTest, AScreenWithoutElectionsSaysSo) {
  EXPECT_EQ(Render(SceneOf({}), {}, {80, 24})[3].text, "no elections");
}

TEST(RenderTest, ControlCharactersInNamesNeverReachTheTerminal) {
  Scene scene =
      SceneOf({LedBy("a", 1, "\x1b[2Jx")}, {Change("a", v1::Event::TYPE_ELECTED, 1, "\x1b[2Jx")});
  scene.prefix = "\x1b[2J";
  scene.endpoint = "\x1b[2J";
  scene.note = "\x1b[2J";

  const Screen screen = Render(scene, {.filter = "\x1b"}, {80, 24});

  EXPECT_THAT(screen, Each(Text(Not(HasSubstr("\x1b")))));
}

// --- The size ---

class RenderSizeTest : public ::testing::TestWithParam<Size> {};

TEST_P(RenderSizeTest, TheScreenIsFilledAndNeverOverflows) {
  const Size size = GetParam();
  Scene scene = Many(200);
  scene.elections[0].set_name(
      "a-name-that-is-much-too-long-for-any-column-日本語日本語日本語日本語");
  for (int i = 0; i < 50; ++i) {
    scene.changes.push_back(Change("e100", v1::Event::TYPE_ELECTED, 1, "a-long-candidate"));
  }

  const Screen screen = Render(scene, {}, size);

  EXPECT_THAT(screen, SizeIs(size.height));
  EXPECT_THAT(screen, Each(Text(::testing::ResultOf(WidthOf, Le(size.width)))));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RenderSizeTest,
                         ::testing::Values(Size{80, 24}, Size{140, 40}, Size{40, 10}, Size{20, 5},
                                           Size{1, 1}, Size{3, 2}, Size{300, 100}),
                         [](const auto& info) {
                           return std::to_string(info.param.width) + "x" +
                                  std::to_string(info.param.height);
                         });

TEST(RenderTest, ALowScreenShowsElectionsOnly) {
  const Screen screen = Render(Many(20), {}, {80, 10});

  EXPECT_THAT(screen, Not(Contains(Text(HasSubstr("LATEST CHANGES")))));
  EXPECT_THAT(screen[8].text, StartsWith("e105"));
}

TEST(RenderTest, ChangesHaveThreeLinesHoweverManyElectionsThereAre) {
  const Screen screen = Render(Many(200), {}, {80, 24});

  EXPECT_THAT(screen[24 - 7].text, StartsWith("LATEST CHANGES"));
}

// --- Scrolling and filtering ---

TEST(RenderTest, TheScreenSaysWhichElectionsItShows) {
  const Screen screen = Render(Many(200), {.scroll = 50}, {80, 24});

  EXPECT_THAT(screen[3].text, StartsWith("e150"));
  EXPECT_THAT(screen.back().text, EndsWith("51-64 of 200"));
}

TEST(RenderTest, TheScreenNeverScrollsBeyondTheEnd) {
  const Screen screen = Render(Many(200), {.scroll = 1000}, {80, 24});

  EXPECT_THAT(screen.back().text, EndsWith("187-200 of 200"));
}

TEST(FilterTest, TheFilterMatchesElectionsAndLeadersInAnyCase) {
  const Scene scene = SceneOf({LedBy("Orders", 1, "x"), LedBy("b", 1, "ORDERLY"), Vacant("c", 1)},
                              {Change("Orders", v1::Event::TYPE_ELECTED, 1, "x"),
                               Change("c", v1::Event::TYPE_ELECTED, 1, "x")});

  const Scene filtered = Filtered(scene, "order");

  EXPECT_THAT(filtered.elections, SizeIs(2));
  EXPECT_THAT(filtered.changes, SizeIs(1));
  EXPECT_THAT(Filtered(scene, "").elections, SizeIs(3));
}

// --- Keys ---

constexpr Size kSize{80, 24};  // shows 14 of 200 elections

View After(View view, const std::vector<Key>& keys, size_t elections = 200) {
  for (const Key& key : keys) EXPECT_TRUE(Press(view, key, elections, kSize));
  return view;
}

std::vector<Key> Typed(const std::string& text) {
  std::vector<Key> keys;
  for (const char character : text) keys.push_back({Kind::kCharacter, std::string(1, character)});
  return keys;
}

TEST(PressTest, QAndCtrlCQuit) {
  View view;

  EXPECT_FALSE(Press(view, {Kind::kCharacter, "q"}, 1, kSize));
  EXPECT_FALSE(Press(view, {Kind::kInterrupt}, 1, kSize));
}

TEST(PressTest, KeysScrollByLinesAndPagesWithinTheList) {
  EXPECT_EQ(After({}, Typed("jjk")).scroll, 1u);
  EXPECT_EQ(After({}, {{Kind::kDown}, {Kind::kDown}, {Kind::kUp}}).scroll, 1u);
  EXPECT_EQ(After({}, {{Kind::kPageDown}}).scroll, 14u);
  EXPECT_EQ(After({}, {{Kind::kPageDown}, {Kind::kPageUp}, {Kind::kUp}}).scroll, 0u);
  EXPECT_EQ(After({}, {{Kind::kEnd}, {Kind::kPageDown}}).scroll, 186u);
  EXPECT_EQ(After({.scroll = 50}, {{Kind::kHome}}).scroll, 0u);
  EXPECT_EQ(After({}, {{Kind::kPageDown}, {Kind::kEnd}}, 5).scroll, 0u);
}

TEST(PressTest, AFilterCanBeTypedKeptAndCleared) {
  const View typing = After({}, Typed("/jq"));
  EXPECT_TRUE(typing.typing);
  EXPECT_EQ(typing.filter, "jq");

  const View kept = After(typing, {{Kind::kBackspace}, {Kind::kEnter}});
  EXPECT_FALSE(kept.typing);
  EXPECT_EQ(kept.filter, "j");

  EXPECT_EQ(After(kept, {{Kind::kEscape}}).filter, "");
}

TEST(PressTest, CtrlCQuitsWhileAFilterIsTyped) {
  View view = After({}, Typed("/a"));

  EXPECT_FALSE(Press(view, {Kind::kInterrupt}, 1, kSize));
}

}  // namespace
}  // namespace tenure::top
