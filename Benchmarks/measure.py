#!/usr/bin/env python3
"""Measures the command against the yardstick and prints one table. Run it by run.sh; see README.md."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data"
COMMAND = HERE.parent / ".build/release/beaconscan"
GENERATE = HERE / ".build/release/generate"
MICRO = HERE.parent / ".build/release/micro"
YARDSTICK = DATA / "yardstick"
LAUNCH = DATA / "launch"


def generate(name: str, form: str, reports: int, beacons: int, seed: int) -> pathlib.Path:
    """The recording of these numbers, made if it is not there."""
    path = DATA / f"{name}-{reports}-{beacons}-{seed}.{form}"
    if not path.exists():
        print(f"Making {path.name}", file=sys.stderr)
        part = path.with_suffix(".part")
        subprocess.run([GENERATE, part, form, str(reports), str(beacons), str(seed)], check=True)
        part.rename(path)
    return path


def run(words: list) -> tuple[float, float, int]:
    """Wall seconds, processor seconds, and the most memory in KiB."""
    with tempfile.NamedTemporaryFile("r", dir=DATA) as result:
        launch = [str(word) for word in [LAUNCH, result.name, *words]]
        subprocess.run(
            launch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        status, wall, processor, memory = result.read().split()
    if int(status) != 0:
        raise SystemExit(f"{' '.join(launch[2:])}: status {status}")
    return float(wall), float(processor), int(memory)


def captured(words: list) -> str:
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout


def row(name: str, *cells: str) -> None:
    print(f"{name:<44}" + "".join(f"{cell:>13}" for cell in cells), flush=True)


def title(name: str, *cells: str) -> None:
    print()
    row(name, *cells)


# The work is the same


def check_equal(recording: pathlib.Path) -> None:
    """The command and the yardstick must count the same, for each beacon."""
    plain, summary = {}, {}
    for line in captured([YARDSTICK, recording]).splitlines():
        words = line.split()
        if words[0] == "packets":
            summary = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
        else:
            plain[words[0]] = (int(words[1]), int(words[2]))
    ours = {}
    for line in captured([COMMAND, "inspect", recording, "--format", "json"]).splitlines():
        item = json.loads(line)
        if item["type"] == "beacon":
            key = item["uuid"].replace("-", "") + f"{item['major']:04X}{item['minor']:04X}"
            ours[key] = (item["sightings"], item["rssiMean"])
        elif item["type"] == "summary":
            for key in "packets", "reports", "sightings", "beacons":
                if item[key] != summary[key]:
                    raise SystemExit(f"{recording.name}: {key} {item[key]}, yardstick {summary[key]}")
            for ours_key, key in ("malformedADStructure", "badAD"), ("malformedIBeacon", "badIBeacon"):
                if item["refused"].get(ours_key, 0) != summary[key]:
                    raise SystemExit(f"{recording.name}: {ours_key} differs")
    if ours.keys() != plain.keys():
        raise SystemExit(f"{recording.name}: the command and the yardstick found other beacons")
    for key, (count, total) in plain.items():
        if ours[key][0] != count or abs(ours[key][1] - total / count) > 0.0051:
            raise SystemExit(f"{recording.name}: {key}: {ours[key]}, yardstick {count} {total / count}")
    row(f"  {recording.name}", f"{summary['sightings']:,}", f"{summary['beacons']:,}", "equal")


# Two programs in turn


def pair(name: str, ours: list, theirs: list, reports: int, runs: int) -> None:
    for words in ours, theirs:
        run(words)  # the file is in memory from here on
    walls, processors, memory = ([], []), ([], []), ([], [])
    for index in range(runs):
        order = (0, 1) if index % 2 == 0 else (1, 0)
        for which in order:
            wall, processor, most = run((ours, theirs)[which])
            walls[which].append(wall)
            processors[which].append(processor)
            memory[which].append(most)
    ratio = statistics.median(a / b for a, b in zip(*walls))
    processor = statistics.median(a / b for a, b in zip(*processors))
    nanoseconds = [statistics.median(times) / reports * 1e9 for times in walls]
    row(
        name, f"{nanoseconds[0]:.1f} ns", f"{nanoseconds[1]:.1f} ns", f"{ratio:.2f}", f"{processor:.2f}",
        f"{max(memory[0]) / 1024:.1f} MiB", f"{max(memory[1]) / 1024:.1f} MiB", f"{os.getloadavg()[0]:.1f}",
    )


def throughput(files: dict[str, pathlib.Path], reports: int, runs: int) -> None:
    title("Throughput, a report", "beaconscan", "yardstick", "clock ratio", "CPU ratio", "memory", "yardstick's", "load")
    ranged = ["range", "--interval", "3600", "--format", "json", "--replay"]
    for name, path in files.items():
        inspect = [COMMAND, "inspect", path, "--format", "json"]
        pair(f"  inspect, {name}", inspect, [YARDSTICK, path], reports, runs)
        pair(f"  range, {name}", [COMMAND, *ranged, path], [YARDSTICK, "-r", path], reports, runs)
    path = next(iter(files.values()))
    floor = statistics.median(run([YARDSTICK, "-n", path])[0] for _ in range(runs))
    row("  reading the file alone", "", f"{floor / reports * 1e9:.1f} ns")


def start_up(runs: int) -> None:
    title("Start-up", "beaconscan", "/bin/true", "difference")
    empty = DATA / "empty.btsnoop"
    empty.write_bytes(b"btsnoop\0" + (1).to_bytes(4, "big") + (1002).to_bytes(4, "big"))
    for name, words in {
        "  --version": [COMMAND, "--version"],
        "  inspect of an empty recording": [COMMAND, "inspect", empty],
    }.items():
        times = ([], [])
        for _ in range(4 * runs):
            times[0].append(run(words)[0] * 1000)
            times[1].append(run(["/bin/true"])[0] * 1000)
        ours, floor = map(statistics.median, times)
        row(name, f"{ours:.2f} ms", f"{floor:.2f} ms", f"{ours - floor:.2f} ms")


def allocations() -> None:
    title("Allocations", "of 100,000", "of 1,000,000", "a report", "bytes each")
    small = generate("mallocs", "btsnoop", 100_000, 1000, 5)
    large = generate("mallocs", "btsnoop", 1_000_000, 1000, 5)
    for name, words in {
        "  inspect": ["inspect", "--format", "json", "--replay"],
        "  range": ["range", "--interval", "3600", "--format", "json", "--replay"],
    }.items():
        counts = [count_allocations([COMMAND, *words, path]) for path in (small, large)]
        each = (counts[1][0] - counts[0][0]) / 900_000
        size = (counts[1][1] - counts[0][1]) / 900_000
        row(name, f"{counts[0][0]:,}", f"{counts[1][0]:,}", f"{each:.5f}", f"{size:.2f}")


def count_allocations(words: list) -> tuple[int, int]:
    with tempfile.NamedTemporaryFile("r", dir=DATA) as result:
        preload = {"LD_PRELOAD": str(DATA / "count-malloc.so"), "MALLOC_COUNT": result.name}
        subprocess.run(
            [str(word) for word in words], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=os.environ | preload)
        calls, size = result.read().split()
        return int(calls), int(size)


def steps(capture: pathlib.Path) -> None:
    title("Steps, each alone", "an operation", "spread")
    for line in captured([MICRO, capture]).splitlines():
        name, nanoseconds, spread = line.split("\t")
        row(f"  {name}", f"{nanoseconds} ns", f"{spread} %")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15, help="pairs of runs; medians count (15)")
    parser.add_argument("--reports", type=int, default=5_000_000, help="reports of a recording (5000000)")
    parser.add_argument("--skip-build", action="store_true", help="measure what is built")
    parser.add_argument("--only", default="throughput,startup,allocations,steps", help="which parts")
    choice = parser.parse_args()
    parts = choice.only.split(",")

    small = [generate("check", form, 200_000, 1000, 4) for form in ("btsnoop", "pcap", "pcapng")]
    title("Equal work", "sightings", "beacons", "")
    for path in small:
        check_equal(path)
    if "throughput" in parts:
        files = {form: generate("large", form, choice.reports, 1000, 2) for form in ("btsnoop", "pcap", "pcapng")}
        for path in files.values():
            check_equal(path)
        throughput(files, choice.reports, choice.runs)
        crowd = generate("crowd", "btsnoop", choice.reports, 1_000_000, 3)
        title("A million beacons, a report", "beaconscan", "yardstick", "clock ratio", "CPU ratio", "memory", "yardstick's", "load")
        runs = max(3, choice.runs // 3)
        pair("  inspect", [COMMAND, "inspect", crowd, "--format", "json"], [YARDSTICK, crowd], choice.reports, runs)
        ranged = [COMMAND, "range", "--interval", "3600", "--format", "json", "--replay", crowd]
        pair("  range", ranged, [YARDSTICK, "-r", crowd], choice.reports, runs)
    if "startup" in parts:
        start_up(choice.runs)
    if "allocations" in parts:
        allocations()
    if "steps" in parts:
        steps(small[0])


if __name__ == "__main__":
    main()
