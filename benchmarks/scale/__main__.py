"""What a run in many groups costs besides its training: python -m benchmarks.scale [--part …]

Measures a task's start, files and checkpoints (`tasks`), merging and looking at 1 to 64 groups and
more (`merging`), and one group on one core against two on two (`weak`), and keeps them. From these
come coefficients by least squares, and from them what 1,000 groups of 10,000 members would take:
two tables, which docs/scaling.md shows. Without a part: all of them, in about ten minutes on two
idle cores; `--part forecast` measures nothing. Seconds are the processor's, so that a busy machine
is measured too; weak scaling by the clock wants two idle cores.
"""

import argparse
import json
import shutil
from typing import Any

from benchmarks import common
from benchmarks.scale import coefficients, forecast, merging, tasks, weak

NAME = "scale"
PARTS = ("tasks", "merging", "weak", "forecast")


def measured_before() -> dict[str, Any]:
    """What the result file holds."""
    path = common.RESULTS / f"{NAME}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def costs(figures: dict[str, Any]) -> dict[str, float]:
    """All coefficients, from what was measured."""
    merged = figures["merging"]
    return {
        **coefficients.of_tasks(figures["tasks"]["groups"]),
        **coefficients.of_merges(merged["merges"]),
        **coefficients.of_looks(merged["looks"]),
        **coefficients.of_lengths(merged["lengths"]),
        **coefficients.of_lines(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this, the rest as kept")
    parser.add_argument("--repeats", type=int, default=3, help="of tasks; medians count")
    parser.add_argument("--rounds", type=int, default=weak.ROUNDS, help="of weak scaling")
    parser.add_argument("--quick", action="store_true", help="small sizes; keeps nothing")
    args = parser.parse_args()
    parts, figures = args.part or PARTS, measured_before()
    figures.pop("machine", None)
    folder = common.isolated_folders()
    try:
        if "tasks" in parts:
            figures["tasks"] = tasks.measured(args.repeats)
        if "merging" in parts:
            figures["merging"] = merging.measured(args.quick)
        if "weak" in parts:
            figures["weak"] = weak.measured(args.rounds, weak.SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures["costs"] = costs(figures)
    if args.quick:
        print(json.dumps(figures["costs"], indent=1))
    else:
        common.keep(NAME, figures)
    print(forecast.coefficients(figures["costs"]), forecast.table(figures["costs"]), sep="\n\n")
    print("", weak.said(figures["weak"]) if "weak" in figures else "", sep="\n")


if __name__ == "__main__":
    main()
