#!/usr/bin/python3
"""Draws the JSON of tenure-bench as pictures beside it: benchmarks.json and figure.json, if FOLDER
has them.

Usage: scripts/draw-benchmarks.py FOLDER
"""

import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

COLORS = {"Tenure": "#1a7f37", "Tenure by socket": "#4fa365", "Tenure on MySQL": "#7fc08f", "etcd": "#6e7781", "ZooKeeper": "#afb8c1"}
MARKERS = {"Tenure": "o", "etcd": "s", "ZooKeeper": "^"}
DARK, GREY, RED = "#1f2328", "#57606a", "#cf222e"

plt.rcParams.update(
    {
        "axes.axisbelow": True,
        "axes.edgecolor": "#d0d7de",
        "axes.grid": True,
        "axes.labelcolor": GREY,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": DARK,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "figure.constrained_layout.h_pad": 0.08,
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.w_pad": 0.08,
        "font.size": 9,
        "grid.color": "#eaeef2",
        "legend.frameon": False,
        "svg.hashsalt": "tenure",  # the same figures make the same file
        "xtick.color": GREY,
        "ytick.color": GREY,
    }
)


def figure_text(value):
    """Formats a figure as the tables do."""
    if value >= 100:
        return f"{value:,.0f}"
    text = f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")


def draw_row(axes, row):
    better = "more" if row["unit"].endswith("/s") else "less"
    axes.set_title(row["work"])
    axes.set_xlabel(f"{row['unit']} ({better} is better)")
    axes.set_yticks(range(len(row["figures"])), row["figures"])
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: figure_text(value)))
    axes.grid(axis="y", visible=False)
    for place, (system, measured) in enumerate(row["figures"].items()):
        value, rounds = measured["value"], measured["rounds"]
        axes.barh(place, value, height=0.7, color=COLORS[system])
        axes.plot([min(rounds), max(rounds)], [place, place], color=DARK, linewidth=1.5)
        at = axes.get_yaxis_transform()  # beside the panel, where no line crosses it
        axes.text(1.02, place, figure_text(value), transform=at, va="center", color=DARK)
    for goal in row["goals"]:
        if goal["bound"] is not None:
            axes.axvline(goal["bound"], color=RED, linestyle="--", linewidth=1.2)
    axes.set_xlim(left=0)


def draw_rows(results):
    """A panel for each row that compares systems and has a goal; nothing if there is no such row.
    """
    rows = [row for row in results["rows"] if row["goals"] and len(row["figures"]) > 1]
    if not rows:
        return None
    lines = (len(rows) + 1) // 2
    figure, grid = plt.subplots(lines, 2, figsize=(10, 1.75 * lines + 0.5))
    for axes in grid.flat[len(rows) :]:
        axes.axis("off")
    for axes, row in zip(grid.flat, rows):
        draw_row(axes, row)
    key = "Black lines span all rounds. Dashed lines are Tenure's goals."
    figure.supxlabel(key, color=GREY, fontsize=9)
    return figure


def draw_crashes(results):
    """A curve of medians for each system, with minimum and maximum; nothing if all points are
    omitted.
    """
    measured = [point for point in results["points"] if "times_ms" in point]
    if not measured:
        return None
    figure, axes = plt.subplots(figsize=(8, 4.2))
    axes.set_title("Time from the crash of the leader to the next leader (less is better)")
    axes.set_xlabel("waiting candidates")
    axes.set_ylabel("seconds: median, least and most")
    axes.set_xscale("log")
    for number, (system, marker) in enumerate(MARKERS.items()):
        points = [point for point in measured if point["system"] == system]
        if not points:
            continue
        seconds = [[time / 1000 for time in point["times_ms"]] for point in points]
        medians = [statistics.median(times) for times in seconds]
        axes.errorbar(
            # Slightly apart, so that no range hides another system's.
            [point["waiting"] * 1.03 ** (number - 1) for point in points],
            medians,
            yerr=[
                [median - min(times) for median, times in zip(medians, seconds)],
                [max(times) - median for median, times in zip(medians, seconds)],
            ],
            label=system,
            color=COLORS[system],
            marker=marker,
            markersize=5,
            linewidth=2,
            elinewidth=1.2,
            capsize=3,
        )
    counts = sorted({point["waiting"] for point in measured})
    axes.set_xlim(counts[0] / 1.2, counts[-1] * 1.2)
    axes.set_xticks(counts, [figure_text(count) for count in counts])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 1.1 * max(max(point["times_ms"]) for point in measured) / 1000)
    axes.legend(loc="lower center", ncols=len(MARKERS))  # no crash ends before its lease, so this is free
    return figure


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, draw in {"benchmarks": draw_rows, "figure": draw_crashes}.items():
        file = folder / f"{name}.json"
        figure = draw(json.loads(file.read_text())) if file.exists() else None
        if figure is not None:
            figure.savefig(file.with_suffix(".svg"), metadata={"Date": None})
            print(file.with_suffix(".svg"))


main()
