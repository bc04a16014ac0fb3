#!/usr/bin/env python3
"""Draws docs/images/ranging-*.svg from what the Swift filter itself prints.

    BEACONSCAN_TRACES=1 swift build -c release --product ranging-trace
    python3 -m pip install matplotlib
    python3 Scripts/ranging-plots.py

Run it from the project's root. The same source gives the same drawings.
"""

import csv
import io
import pathlib
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Okabe and Ito's colors, which color-blind readers can distinguish.
GREY, BLUE, ORANGE = "#999999", "#0072B2", "#D55E00"

PLOTS = {
    "step10": "A jump of 15 dB, 10 packets a second, noise of 5 dB",
    "step5": "A fall of 15 dB, 5 packets a second, half of the fading slow",
    "step1": "A jump of 15 dB, 1 packet a second, noise of 5 dB",
    "still10": "Nothing moves: 10 packets a second, half of the fading slow",
}


def trace(program: str, experiment: str) -> dict[str, list[float]]:
    text = subprocess.run(
        [program, experiment], check=True, capture_output=True, text=True
    ).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}


def draw(data: dict[str, list[float]], title: str, target: pathlib.Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    seconds, mean, error = data["seconds"], data["mean"], data["standard_error"]
    axes.plot(seconds, data["rssi"], ".", color=GREY, markersize=4, label="packets")
    axes.plot(seconds, data["truth"], "--", color=ORANGE, label="truth")
    axes.fill_between(
        seconds,
        [m - 2 * e for m, e in zip(mean, error)],
        [m + 2 * e for m, e in zip(mean, error)],
        color=BLUE,
        alpha=0.2,
        linewidth=0,
        label="two standard errors",
    )
    axes.plot(seconds, mean, color=BLUE, label="filter")
    low, high = min(data["rssi"]), max(data["rssi"])
    axes.set(title=title, xlabel="seconds", ylabel="dBm", ylim=(low - 2, high + 2))
    axes.margins(x=0.01)
    axes.grid(alpha=0.25)
    axes.legend(loc="best", fontsize="small", framealpha=0.9)
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else ".build/release/ranging-trace"
    folder = pathlib.Path("docs/images")
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "ranging"
    for experiment, title in PLOTS.items():
        target = folder / f"ranging-{experiment}.svg"
        draw(trace(program, experiment), title, target)
        print(target)


if __name__ == "__main__":
    main()
