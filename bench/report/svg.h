// What the pictures have in common: the page, and the colours of the systems, by light and by dark.
#pragma once

#include <string>

namespace tenure::bench {

// An SVG document of this size. Classes: title, note, and for a system's own colour its name;
// range, goal, grid and curve are strokes.
[[nodiscard]] std::string SvgDocument(const std::string& title, int width, int height,
                                      const std::string& drawing);

}  // namespace tenure::bench
