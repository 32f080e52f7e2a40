#include "bench/report/svg.h"

#include <fmt/format.h>

namespace tenure::bench {
namespace {

constexpr char kStyle[] = R"(<style>
    .page { fill: #ffffff; }
    .title { fill: #1f2328; font-weight: 600; }
    .note { fill: #57606a; font-size: 12px; }
    .Tenure { fill: #1a7f37; stroke: #1a7f37; }
    .etcd { fill: #6e7781; stroke: #6e7781; }
    .ZooKeeper { fill: #afb8c1; stroke: #afb8c1; }
    rect { stroke: none; }
    .curve { fill: none; stroke-width: 2; }
    .range { stroke: #1f2328; stroke-width: 1.5; }
    .grid { stroke: #d0d7de; stroke-width: 1; }
    .goal { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; }
      .title { fill: #e6edf3; }
      .note { fill: #9da7b1; }
      .Tenure { fill: #3fb950; stroke: #3fb950; }
      .etcd { fill: #8b949e; stroke: #8b949e; }
      .ZooKeeper { fill: #57606a; stroke: #57606a; }
      .curve { fill: none; }
      .range { stroke: #e6edf3; }
      .grid { stroke: #30363d; }
      .goal { stroke: #ff7b72; }
    }
  </style>)";

}  // namespace

std::string SvgDocument(const std::string& title, int width, int height,
                        const std::string& drawing) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
             "aria-labelledby=\"title\"\n"
             "     font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\" "
             "font-size=\"14\">\n"
             "  <title id=\"title\">{}</title>\n  ",
             width, height, title) +
         kStyle +
         fmt::format("\n  <rect class=\"page\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n", width,
                     height) +
         drawing + "</svg>\n";
}

}  // namespace tenure::bench
