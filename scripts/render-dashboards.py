#!/usr/bin/python3
"""Draws what the panels of the dashboards showed in a run of monitoring_test, one picture per
dashboard.

Usage: scripts/render-dashboards.py RESULTS PICTURES   (folders; see scripts/render-dashboards.sh)
"""

import json
import math
import pathlib
import re
import sys
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator

UNIT = 0.3  # inches of one row of Grafana's grid
WIDTH = 14  # inches of all its 24 columns
COLORS = {"red": "#d1242f", "green": "#1a7f37", "text": "#1f2328"}
GREY = "#57606a"
LINES = plt.get_cmap("tab10").colors
LEGENDS_MAX = 6

plt.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 8,
        "axes.edgecolor": "#d0d7de",
        "axes.grid": True,
        "grid.color": "#eaeef2",
        "xtick.color": GREY,
        "ytick.color": GREY,
        "axes.prop_cycle": plt.cycler(color=LINES),
    }
)


# --- Values ---


def in_unit(value, unit):
    if not math.isfinite(value):
        return "-"
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    if unit == "s" and abs(value) < 1:
        return f"{1000 * value:.3g} ms"
    plain = f"{value:.0f}" if abs(value - round(value)) < 0.005 else f"{value:.3g}"
    return plain + {"s": " s", "ops": "/s", "reqps": "/s", "cpm": "/min"}.get(unit, "")


def legend_of(template, labels):
    return re.sub(r"\{\{(\w+)\}\}", lambda label: labels.get(label[1], ""), template)


def lines_of(entry):
    """Returns the legend, times and values of each series of a panel."""
    for target, shown in zip(entry["panel"]["targets"], entry["shown"]):
        for series in shown:
            values = [(float(time), float(value)) for time, value in series["values"]]
            yield (legend_of(target["legendFormat"], series["metric"]), *zip(*values))


# --- Panels ---


def draw_lines(axes, entry, begin, unit):
    defaults = entry["panel"]["fieldConfig"]["defaults"]
    steps = defaults["custom"]["lineInterpolation"] == "stepAfter"
    lines = list(lines_of(entry))
    lines.sort(key=lambda line: -max(filter(math.isfinite, line[2]), default=0))
    busy = [legend for legend, _, values in lines if any(value > 0 for value in values)]
    # All are drawn; the legend has room for the highest, and leaves out any that is always zero.
    shown = (busy or [legend for legend, _, _ in lines])[:LEGENDS_MAX]
    for index, (legend, times, values) in enumerate(lines):
        axes.plot(
            [time - begin for time in times],
            values,
            linewidth=1.3,
            color=LINES[index % len(LINES)],
            drawstyle="steps-post" if steps else "default",
            label=legend if legend in shown else "_",
            marker="." if sum(map(math.isfinite, values)) < 30 else None,
            markersize=3,
        )
    top = defaults.get("max", axes.get_ylim()[1] if busy else 1)
    axes.set_ylim(0, 1.4 * top)  # with room for the legend
    axes.set_yticks([tick for tick in MaxNLocator(5).tick_values(0, top) if tick <= 1.1 * top])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: in_unit(value, unit)))
    axes.legend(loc="upper left", fontsize=6.5, frameon=False, ncols=2)


def draw_stat(axes, entry, begin, unit):
    value = float(entry["shown"][0][0]["value"][1])
    decimals = entry["panel"]["fieldConfig"]["defaults"].get("decimals")
    steps = entry["panel"]["fieldConfig"]["defaults"]["thresholds"]["steps"]
    color = [step["color"] for step in steps if step["value"] is None or value >= step["value"]][-1]
    axes.axis("off")
    axes.text(
        0.5,
        0.42,
        in_unit(value if decimals is None else round(value), unit),
        ha="center",
        va="center",
        fontsize=24,
        color=COLORS[color],
    )


def draw_states(axes, entry, begin, unit):
    names = entry["panel"]["fieldConfig"]["defaults"]["mappings"][0]["options"]
    lines = list(lines_of(entry))
    for row, (_, times, values) in enumerate(lines):
        for time, value in zip(times, values):
            axes.barh(
                row,
                1,
                left=time - begin,
                height=0.6,
                align="center",
                color=COLORS[names[f"{value:.0f}"]["color"]],
                alpha=0.7,
                linewidth=0,
            )
    axes.set_yticks([])
    for row, (legend, _, _) in enumerate(lines):
        axes.text(0.01, row, legend, transform=axes.get_yaxis_transform(), va="center")
    axes.set_ylim(len(lines) - 0.1, -0.6)
    axes.grid(axis="y", visible=False)
    handles = [
        plt.Rectangle((0, 0), 1, 1, color=COLORS[state["color"]], alpha=0.7)
        for state in names.values()
    ]
    axes.legend(
        handles,
        [state["text"] for state in names.values()],
        loc="lower right",
        fontsize=6.5,
        frameon=False,
        ncols=2,
    )


def draw_table(axes, entry, begin, unit):
    columns = [target["legendFormat"] for target in entry["panel"]["targets"]]
    rows = {}
    for column, shown in zip(columns, entry["shown"]):
        for series in shown:
            name = ", ".join(value for _, value in sorted(series["metric"].items()))
            rows.setdefault(name, {})[column] = in_unit(float(series["value"][1]), "none")
    axes.axis("off")
    cells = axes.table(
        [[name, *(row.get(column, "") for column in columns)] for name, row in rows.items()],
        colLabels=["", *columns],
        loc="upper center",
        cellLoc="left",
        edges="horizontal",
    )
    cells.auto_set_font_size(False)
    cells.scale(1, 1.5)
    for cell in cells.get_celld().values():
        cell.set_edgecolor("#d0d7de")


def draw_text(axes, entry, begin, unit):
    axes.axis("off")
    lines = []
    for line in entry["panel"]["options"]["content"].splitlines():
        if not line.startswith("```"):
            lines += textwrap.wrap(line, 58, subsequent_indent="  ") or [""]
    axes.text(
        0.01,
        0.96,
        "\n".join(lines),
        ha="left",
        va="top",
        fontsize=6.5,
        color=GREY,
        family="monospace",
    )


DRAW = {
    "timeseries": draw_lines,
    "stat": draw_stat,
    "state-timeline": draw_states,
    "table": draw_table,
    "text": draw_text,
}


# --- Pages ---


def times_of(page):
    return [
        float(value[0])
        for entry in page["panels"]
        for shown in entry["shown"]
        for series in shown
        for value in series.get("values", [])
    ]


def render(page, file):
    dashboard, shown = page["dashboard"], page["panels"]
    bottom = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"])
    height = UNIT * (bottom + 2)
    figure = plt.figure(figsize=(WIDTH, height), facecolor="white")
    figure.text(
        0.12 / WIDTH, 1 - UNIT / height, dashboard["title"], fontsize=15, weight="bold", va="center"
    )

    def place(grid, left=0.0, top=0.0, right=0.0, bottom=0.0):
        """The area of a panel, reduced by these margins in inches."""
        x, y = WIDTH * grid["x"] / 24 + left, height - UNIT * (grid["y"] + 2 + grid["h"]) + bottom
        wide, tall = WIDTH * grid["w"] / 24 - left - right, UNIT * grid["h"] - top - bottom
        return x / WIDTH, y / height, wide / WIDTH, tall / height

    for row in dashboard["panels"]:
        if row["type"] == "row":
            x, y, _, tall = place(row["gridPos"], left=0.12)
            figure.text(
                x, y + 0.5 * tall, row["title"], fontsize=10, weight="bold", color=GREY, va="center"
            )
    begin, end = min(times_of(page)), max(times_of(page))
    for entry in shown:
        panel = entry["panel"]
        x, y, wide, tall = place(panel["gridPos"], 0.05, 0.05, 0.05, 0.05)
        figure.add_artist(plt.Rectangle((x, y), wide, tall, fill=False, edgecolor="#d0d7de"))
        over_time = panel["type"] in ("timeseries", "state-timeline")
        left, under = (0.65 if panel["type"] == "timeseries" else 0.2), (0.32 if over_time else 0.1)
        axes = figure.add_axes(place(panel["gridPos"], left, 0.42, 0.3, under))
        figure.text(
            x + 0.1 / WIDTH, y + tall - 0.2 / height, panel["title"], fontsize=9, va="center"
        )
        axes.spines[["top", "right"]].set_visible(False)
        DRAW[panel["type"]](
            axes, entry, begin, panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "none")
        )
        if over_time:
            axes.set_xlim(0, end - begin)
            axes.xaxis.set_major_formatter(
                FuncFormatter(lambda time, _: f"{time // 60:.0f}:{time % 60:02.0f}")
            )
            axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 1.5, 3, 6, 10]))
    figure.savefig(file, dpi=90, pil_kwargs={"optimize": True})
    plt.close(figure)


def main():
    results, pictures = map(pathlib.Path, sys.argv[1:])
    pictures.mkdir(exist_ok=True)
    for file in sorted(results.glob("*.json")):
        picture = pictures / f"{file.stem.removeprefix('tenure-')}.png"
        # Grafana also substitutes variables in titles, legends and texts.
        page = file.read_text()
        for name, value in json.loads(page)["variables"].items():
            page = page.replace(f"${name}", json.dumps(value)[1:-1])
        render(json.loads(page), picture)
        print(picture)


main()
