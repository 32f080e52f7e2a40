#include "client/tool/top/screen.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "client/tool/election_text.h"
#include "client/tool/moments.h"
#include "client/tool/words.h"
#include "command_line/table.h"
#include "proto/time.h"

namespace tenure::top {
namespace {

constexpr size_t kFixedLines = 4;  // title, summary, table header, keys
constexpr size_t kChangesMin = 3;
constexpr size_t kRoomForChanges = 8;  // changes are hidden if there is less room
constexpr char kKeys[] = "q quit   j/k PgUp/PgDn scroll   / filter";

// How the lines between the table's header and the last line are divided.
struct Layout {
  size_t elections = 0;
  size_t changes = 0;  // with their header; 0: none is shown
};

Layout LayoutOf(size_t elections, Size size) {
  const size_t room = size.height > kFixedLines ? size.height - kFixedLines : 0;
  if (room < kRoomForChanges) return {room, 0};
  const size_t changes_least = 1 + std::max(kChangesMin, room / 4);
  const size_t shown = std::clamp<size_t>(elections, 1, room - changes_least);
  return {shown, room - shown};
}

size_t ScrollMax(size_t elections, Size size) {
  const size_t shown = LayoutOf(elections, size).elections;
  return elections > shown ? elections - shown : 0;
}

// `left` and `right` at the ends of one line; `right` is shortened if necessary.
std::string Ends(const std::string& left, const std::string& right, size_t width) {
  const size_t used = WidthOf(left) + 1;
  if (used + WidthOf(right) > width) return CutTo(left, width);
  return left + PadBefore(right, width - used + 1);
}

bool Contains(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end() ||
         part.empty();
}

std::string Count(size_t number, const std::string& what) {
  return std::to_string(number) + " " + what;
}

Line Title(const Scene& scene, size_t width) {
  std::string left = "tenure top  " + Printable(scene.endpoint);
  if (!scene.prefix.empty()) left += "  '" + Printable(scene.prefix) + "'";
  return {PadAfter(Ends(left, ClockText(scene.now), width), width), Tone::kTitle};
}

Line Summary(const Scene& scene, size_t width) {
  if (!scene.disconnected.empty()) {
    return {CutTo("DISCONNECTED for " + AgeText(scene.disconnected_for) +
                      ", trying again: " + Printable(scene.disconnected),
                  width),
            Tone::kAlarm};
  }
  if (!scene.read) return {CutTo("reading ...", width), Tone::kQuiet};
  size_t led = 0;
  size_t paused = 0;
  size_t waiting = 0;
  for (const v1::Election& election : scene.elections) {
    led += election.has_leader() ? 1 : 0;
    paused += election.paused() ? 1 : 0;
    waiting += election.candidates();
  }
  const size_t all = scene.elections.size();
  std::string text = Count(all, all == 1 ? "election: " : "elections: ") + Count(led, "led, ") +
                     Count(all - led, "vacant, ") + Count(paused, "paused; ") +
                     Count(waiting, waiting == 1 ? "candidate waiting" : "candidates waiting");
  if (!scene.note.empty()) text += "; " + Printable(scene.note);
  return {CutTo(text, width)};
}

Tone ToneOf(const v1::Election& election, bool stale) {
  if (stale) return Tone::kQuiet;
  if (!election.has_leader()) return Tone::kAlarm;
  return election.paused() || election.has_appointment() ? Tone::kNotice : Tone::kPlain;
}

void AddElections(Screen& screen, const Scene& scene, size_t scroll, size_t count, size_t width) {
  const bool stale = !scene.disconnected.empty();
  const size_t first = std::min(scroll, scene.elections.size());
  const size_t end = std::min(first + count, scene.elections.size());
  Table table(ElectionColumns());
  for (size_t i = first; i < end; ++i) {
    v1::Election election = scene.elections[i];
    if (stale) election.clear_lease_left();  // unknown
    table.Add(ElectionCells(election, scene.now));
  }
  const std::vector<std::string> lines = table.Lines(width);
  screen.push_back({PadAfter(lines[0], width), Tone::kHeader});
  for (size_t i = first; i < end; ++i) {
    screen.push_back({lines[1 + i - first], ToneOf(scene.elections[i], stale)});
  }
  if (first == end && count > 0 && scene.read) {
    screen.push_back({CutTo("no elections", width), Tone::kQuiet});
  }
}

std::string ChangeText(const v1::Event& event) {
  const v1::Leadership& leadership = event.leadership();
  std::string text = ClockText(FromProto(event.time())) + "  " + event.election() + "  " +
                     Word(event.type()) + " " + leadership.candidate() + ", term " +
                     std::to_string(leadership.term());
  if (event.cause() != v1::CAUSE_UNSPECIFIED) text += ": " + Word(event.cause());
  if (event.type() == v1::Event::TYPE_HANDOVER_ASKED) text += ": for " + leadership.successor();
  return Printable(text);
}

void AddChanges(Screen& screen, const Scene& scene, size_t lines, size_t width) {
  if (lines == 0) return;
  screen.push_back({PadAfter(CutTo("LATEST CHANGES", width), width), Tone::kHeader});
  const size_t count = std::min(lines - 1, scene.changes.size());
  const char* none = scene.observing ? "none so far" : "not connected yet";
  if (count == 0) screen.push_back({CutTo(none, width), Tone::kQuiet});
  for (size_t i = 0; i < count; ++i) screen.push_back({CutTo(ChangeText(scene.changes[i]), width)});
}

Line Foot(const Scene& scene, const View& view, const Layout& layout, size_t width) {
  std::string left = kKeys;
  if (view.typing) {
    left = "/" + Printable(view.filter) + "_   Enter keep   Esc clear";
  } else if (!view.filter.empty()) {
    left = "filter '" + Printable(view.filter) + "'   Esc clear   " + kKeys;
  }
  const size_t all = scene.elections.size();
  const size_t last = std::min(view.scroll + layout.elections, all);
  const std::string right = all <= layout.elections
                                ? ""
                                : std::to_string(view.scroll + 1) + "-" + std::to_string(last) +
                                      " of " + std::to_string(all);
  return {Ends(left, right, width), Tone::kQuiet};
}

void Scroll(View& view, const Key& key, size_t page, size_t scroll_max) {
  using Kind = Key::Kind;
  const bool up = key.kind == Kind::kUp || key.text == "k";
  const bool down = key.kind == Kind::kDown || key.text == "j";
  if (up) view.scroll -= std::min<size_t>(view.scroll, 1);
  if (down) view.scroll += 1;
  if (key.kind == Kind::kPageUp) view.scroll -= std::min(view.scroll, page);
  if (key.kind == Kind::kPageDown || key.text == " ") view.scroll += page;
  if (key.kind == Kind::kHome || key.text == "g") view.scroll = 0;
  if (key.kind == Kind::kEnd || key.text == "G") view.scroll = scroll_max;
}

void Type(View& view, const Key& key) {
  using Kind = Key::Kind;
  if (key.kind == Kind::kEnter) view.typing = false;
  if (key.kind == Kind::kCharacter) view.filter += key.text;
  if (key.kind == Kind::kBackspace) view.filter = WithoutLast(view.filter);
}

}  // namespace

Scene Filtered(Scene scene, const std::string& filter) {
  if (filter.empty()) return scene;
  std::erase_if(scene.elections, [&](const v1::Election& election) {
    return !Contains(election.name(), filter) && !Contains(election.leader().candidate(), filter);
  });
  std::erase_if(scene.changes, [&](const v1::Event& event) {
    return !Contains(event.election(), filter) && !Contains(event.leadership().candidate(), filter);
  });
  return scene;
}

Screen Render(const Scene& scene, const View& view, Size size) {
  const Layout layout = LayoutOf(scene.elections.size(), size);
  View shown = view;
  shown.scroll = std::min(view.scroll, ScrollMax(scene.elections.size(), size));
  Screen screen = {Title(scene, size.width), Summary(scene, size.width)};
  AddElections(screen, scene, shown.scroll, layout.elections, size.width);
  screen.resize(3 + layout.elections);
  AddChanges(screen, scene, layout.changes, size.width);
  screen.resize(std::max<size_t>(size.height, 1) - 1);
  screen.push_back(Foot(scene, shown, layout, size.width));
  return screen;
}

bool Press(View& view, const Key& key, size_t elections, Size size) {
  using Kind = Key::Kind;
  if (key.kind == Kind::kInterrupt) return false;
  if (key.kind == Kind::kEscape) {
    view.filter.clear();
    view.typing = false;
  } else if (view.typing) {
    Type(view, key);
  } else if (key.text == "/") {
    view.typing = true;
  } else if (key.text == "q") {
    return false;
  } else {
    view.scroll = std::min(view.scroll, ScrollMax(elections, size));
    Scroll(view, key, LayoutOf(elections, size).elections, ScrollMax(elections, size));
  }
  view.scroll = std::min(view.scroll, ScrollMax(elections, size));
  return true;
}

}  // namespace tenure::top
