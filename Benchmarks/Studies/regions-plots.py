#!/usr/bin/env python3
"""Draws docs/images/regions-*.svg and prints the numbers of docs/regions.md, from the output of the
Swift gap learner.

    BUILD_STUDIES=1 swift build -c release --product regions-trace
    python3 -m pip install matplotlib
    python3 Benchmarks/Studies/regions-plots.py

Run it from the project's root; it takes about two minutes. The same source gives the same drawings.
"""

import csv
import io
import pathlib
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Okabe and Ito's colors, which color-blind readers can distinguish.
GREY, BLUE, ORANGE, GREEN = "#999999", "#0072B2", "#D55E00", "#009E73"
LOSSES = {"0.1": BLUE, "0.5": GREEN, "0.9": ORANGE}
# Where "none at all" stands on a logarithmic axis, in false exits a day.
NONE = 0.03


def trace(program: str, *arguments: str) -> list[dict[str, str]]:
    text = subprocess.run(
        [program, *arguments], check=True, capture_output=True, text=True
    ).stdout
    return list(csv.DictReader(io.StringIO(text)))


def rate(text: str) -> float:
    return max(float(text), NONE)


def draw_trade(rows: list[dict[str, str]], target: pathlib.Path) -> None:
    airs = list(dict.fromkeys(row["air"] for row in rows))
    intervals = list(dict.fromkeys(row["interval"] for row in rows))
    figure, grid = plt.subplots(
        len(airs), len(intervals), figsize=(10, 6.4), sharex=True, sharey=True,
        layout="constrained",
    )
    for air, line in zip(airs, grid):
        for interval, axes in zip(intervals, line):
            for loss, colour in LOSSES.items():
                some = [
                    row for row in rows
                    if (row["air"], row["interval"], row["loss"]) == (air, interval, loss)
                ]
                own = [row for row in some if row["aim"] != "fixed"]
                axes.plot(
                    [float(row["limit"]) for row in own],
                    [rate(row["false_exits"]) for row in own],
                    ".-", color=colour, label=f"adaptive, {float(loss):.0%} lost",
                )
                for row in some:
                    if row["aim"] == "1.0":
                        axes.plot(
                            float(row["limit"]), rate(row["false_exits"]), "o",
                            color=colour, markersize=9, fillstyle="none",
                        )
                    if row["aim"] == "fixed":
                        axes.plot(
                            float(row["limit"]), rate(row["false_exits"]),
                            "s" if row["limit"].startswith("10") else "^", color=colour,
                            markersize=6, alpha=0.8,
                        )
            axes.axhline(1, color=GREY, linewidth=0.8)
            axes.set(xscale="log", yscale="log", title=f"every {float(interval):g} s, {air}")
            axes.title.set_fontsize("small")
            axes.grid(alpha=0.25)
    for axes in grid[-1]:
        axes.set_xlabel("exit delay, seconds")
    for line in grid:
        line[0].set_ylabel("false exits a day")
    grid[0][0].plot([], [], "s", color=GREY, label="fixed 10 s")
    grid[0][0].plot([], [], "^", color=GREY, label="fixed 30 s")
    grid[0][0].plot([], [], "o", color=GREY, fillstyle="none", label="aiming at one a day")
    grid[0][0].legend(fontsize="x-small", loc="upper right")
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def draw_cases(rows: list[dict[str, str]], target: pathlib.Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
    for column, delay, mark, colour in [
        ("fixed10", 10, "s", ORANGE), ("fixed30", 30, "^", GREEN), ("false_exits", 0, "o", BLUE),
    ]:
        # The delay as it compares with the shortest that would do.
        ratios = [
            (delay or float(row["limit"])) / float(row["shortest"]) for row in rows
        ]
        name = f"fixed {delay} s" if delay else "adaptive"
        axes.plot(
            ratios, [rate(row[column]) for row in rows], mark, color=colour, markersize=4,
            alpha=0.6, label=name, markeredgewidth=0,
        )
    axes.axhline(2, color=GREY, linewidth=0.8)
    axes.axvline(1, color=GREY, linewidth=0.8)
    axes.set(
        xscale="log", yscale="log",
        xlabel="exit delay ÷ the shortest that has one false exit a day",
        ylabel="false exits a day",
        title="Every case: intervals 0.1–10 s, loss 10–90 %, four kinds of air",
    )
    axes.grid(alpha=0.25)
    axes.legend(fontsize="small")
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def share(rows: list[dict[str, str]], column: str, most: float) -> float:
    return sum(float(row[column]) <= most for row in rows) / len(rows)


def report(rows: list[dict[str, str]]) -> None:
    airs = dict.fromkeys(row["air"] for row in rows)
    print("| Air | Runs | At most two a day | Delay ratio: median | 90 % | Fixed 10 s | Fixed 30 s |")
    print("| - | - | - | - | - | - | - |")
    for air in [*airs, "all"]:
        some = [row for row in rows if air in (row["air"], "all")]
        ratios = sorted(float(row["ratio"]) for row in some)
        print(
            f"| {air} | {len(some)} | {share(some, 'false_exits', 2):.0%} |"
            f" {statistics.median(ratios):.2f} | {ratios[int(0.9 * len(ratios))]:.2f} |"
            f" {share(some, 'fixed10', 2):.0%} | {share(some, 'fixed30', 2):.0%} |"
        )
    first = [float(row["first_day"]) for row in rows]
    print(f"first day: {statistics.mean(first):.2f} false exits in the mean, {max(first):.0f} at most")


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else ".build/release/regions-trace"
    folder = pathlib.Path("docs/images")
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "regions"
    draw_trade(trace(program, "trade", "8"), folder / "regions-trade.svg")
    rows = trace(program, "goals")
    draw_cases(rows, folder / "regions-cases.svg")
    report(rows)


if __name__ == "__main__":
    main()
