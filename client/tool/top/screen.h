// The screen of `tenure top`: turns what is known into lines. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "client/tool/top/keys.h"
#include "core/types.h"
#include "tenure/v1/admin.pb.h"
#include "tenure/v1/election.pb.h"

namespace tenure::top {

struct Size {
  size_t width = 80;
  size_t height = 24;
};

enum class Tone { kPlain, kTitle, kHeader, kQuiet, kNotice, kAlarm };

struct Line {
  std::string text;
  Tone tone = Tone::kPlain;

  bool operator==(const Line&) const = default;
};
using Screen = std::vector<Line>;  // printable, and fits its size

// What to show.
struct Scene {
  std::string endpoint;
  std::string prefix;
  DbTime now;  // by this machine's clock
  std::vector<v1::Election> elections;
  std::deque<v1::Event> changes;
  bool observing = false;    // changes are known from now on
  bool read = false;         // elections have been read at least once
  std::string disconnected;  // why, while no replica answers
  Duration disconnected_for{0};
  std::string note;  // what else the operator should know
};

// The operator's view of it.
struct View {
  size_t scroll = 0;  // number of elections above the first one that is shown
  // Show only elections and leaders that contain this text; upper and lower case are equal.
  std::string filter = {};
  bool typing = false;
};

// The scene without what the filter hides.
[[nodiscard]] Scene Filtered(Scene scene, const std::string& filter);

// REQUIRES: the scene is filtered.
[[nodiscard]] Screen Render(const Scene& scene, const View& view, Size size);

// Handles a key, on a screen with this number of elections. False: quit.
[[nodiscard]] bool Press(View& view, const Key& key, size_t elections, Size size);

}  // namespace tenure::top
