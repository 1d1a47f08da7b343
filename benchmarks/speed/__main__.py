"""Training speed beside PyTorch and the HOWTO, and what was aimed at: python -m benchmarks.speed

M = 4, batch 128, MNIST, 2 cores, SGD with momentum, loss and update included, batches gathered
from arrays in memory. Competitors are processes that take turns, a few seconds each, so that
whatever else the machine does falls on all of them: this engine in both precisions, the HOWTO's
loop, PyTorch as people write it (float32 and bfloat16 autocast; eager, with 2 threads or as two
processes of 1 thread; torch.compile; both memory formats) and the machine's float32 matrix
product. In each group the best counts. A first slice of each is a look: who reaches less than
85 % of its group's best is not asked again. PyTorch is needed: benchmarks/requirements.txt.

Then seconds to 99 % accuracy and memory of a worker: `--part` does one of the three alone, and
leaves what the others kept. Takes about 10 minutes.
"""

import argparse
import json
import os
import statistics
from typing import Any

from benchmarks import common
from benchmarks.speed import goals as speed_goals
from benchmarks.speed.jax_loops import BATCH, MEMBERS
from benchmarks.speed.turns import Competitor, best_of, ratio, take_turns

CORES, ROUNDS, SECONDS = 2, 5, 2.5
# What of PyTorch is tried: how it runs, threads a process, processes (each with its share of M).
TORCH_MODES = (("eager", CORES, 1), ("eager", 1, CORES), ("compiled", CORES, 1))
# Our precision, the group that it is set against, at least so many times as fast, and the aim.
RATIOS = (
    ("float32", "torch float32 eager", 1.4, 2.0),
    ("float32", "torch float32 compiled", 1.1, 1.5),
    ("bfloat16", "torch bfloat16 eager", 2.2, 3.0),
    ("bfloat16", "torch bfloat16 compiled", 1.3, 2.0),
    ("float32", "howto", 2.5, 4.0),
)
SHARE = (0.48, 0.70)
EMULATED = "this processor emulates bfloat16: the mark is meant for one that multiplies it"


def competitors() -> list[Competitor]:
    """All that are measured, the best of PyTorch yet unknown."""
    jax = "benchmarks.speed.jax_loops"
    contestants = [
        Competitor("engine float32", "engine float32", (jax, "engine", "float32")),
        Competitor("engine bfloat16", "engine bfloat16", (jax, "engine", "bfloat16")),
        Competitor("howto", "howto", (jax, "howto")),
        Competitor("product", "product", (jax, "product")),
    ]
    for precision in ("float32", "bfloat16"):
        for mode, threads, processes in TORCH_MODES:
            for layout in ("nchw", "channels_last"):
                name = f"torch {precision} {mode} {processes}x{threads} {layout}"
                members = str(MEMBERS // processes)
                words = ("benchmarks.speed.torch_loops", str(threads), members, layout, precision, mode)
                contestants.append(Competitor(name, f"torch {precision} {mode}", words, processes))
    return contestants


def rates(rounds: int, seconds: float) -> dict[str, Any]:
    """Every competitor's speed, and the marks that are ratios of speeds."""
    from ensemble.engine.networks.registry import bind_network
    from ensemble.machine.machine_info import read_machine_info

    everybody = competitors()
    look = take_turns(everybody, rounds, seconds)
    contestants = [competitor for competitor in everybody if competitor.slices]
    best = best_of(contestants, lambda competitor: statistics.median(competitor.slices))
    marks = []
    for precision, group, least, aim in RATIOS:
        engine, rival = best[f"engine {precision}"], best[group]
        note = EMULATED if precision == "bfloat16" and not read_machine_info().fast_bfloat16 else ""
        what = f"{precision} against {rival.name}, times as fast"
        marks.append(mark(what, ratio(engine, rival), least, aim, note))
    share = bind_network("cnn", (28, 28, 1), 10).training_flops * ratio(best["engine float32"], best["product"])
    marks.append(mark("float32's share of the matrix-product speed", share, *SHARE))
    trained = [competitor for competitor in contestants if competitor.group != "product"]
    return {
        "rounds": rounds,
        "slice_seconds": seconds,
        "fast_bfloat16": read_machine_info().fast_bfloat16,
        "marks": marks,
        "img_member_per_s": {competitor.name: round(statistics.median(competitor.slices)) for competitor in trained},
        "matrix_product_gflop_per_s": round(statistics.median(best["product"].slices) / 1e9, 1),
        "slices": {competitor.name: [round(value) for value in competitor.slices] for competitor in trained},
        "first_look": {name: round(value) for name, value in look.items() if name != "product"},
    }


def mark(what: str, value: float, least: float, aim: float, note: str = "") -> dict[str, Any]:
    """A figure beside what it has to be at least and what it should be; the more the better."""
    reached = "aim" if value >= aim else "at least" if value >= least else "no"
    line = {"what": what, "found": round(value, 3), "at_least": least, "aim": aim}
    return {**line, "reached": reached, **({"note": note} if note else {})}


def limit(what: str, value: float | None, most: float, aim: float, note: str = "") -> dict[str, Any]:
    """The same where less is better; None never came to it."""
    reached = "no"
    if value is not None:
        value = round(value, 2)
        reached = "aim" if value <= aim else "at most" if value <= most else "no"
    line = {"what": what, "found": value, "at_most": most, "aim": aim}
    return {**line, "reached": reached, **({"note": note} if note else {})}


def goals(part: str) -> dict[str, Any]:
    """Seconds to 99 %, or the memory of a worker, with its mark."""
    from ensemble.machine.machine_info import read_machine_info

    if part == "memory":
        figures = speed_goals.memory_of_eight()
        what = "most memory of a worker, MNIST, M = 8, GB"
        return {"marks": [limit(what, figures["peak_memory_mb"] / 1024, 1.2, 0.8)], "of_8": figures}
    figures = {name: speed_goals.seconds_to_accuracy(name) for name in ("float32", "bfloat16")}
    marks = []
    for precision, figure in figures.items():
        what = f"{precision}, seconds from the start to 99.0 % of the ensemble, compile included"
        note = "" if precision == "bfloat16" else "the mark is for bfloat16"
        if precision == "bfloat16" and not read_machine_info().fast_bfloat16:
            note = EMULATED
        seconds = figure["seconds"] if figure["reached_99"] else None
        marks.append(limit(what, seconds, 40, 20, note))
    return {"marks": marks, **figures}


def show(kept: dict[str, Any]) -> None:
    """The marks of all parts as a table."""
    for part in kept.values():
        for line in part["marks"] if isinstance(part, dict) and "marks" in part else []:
            bound = f"{line.get('at_least', line.get('at_most'))} / {line['aim']}"
            print(f"{line['found']!s:>9}  ({bound}: {line['reached']})  {line['what']}")
            if "note" in line:
                print(f"{'':>11}{line['note']}")
    screens = common.RESULTS / "screens.json"
    figures = json.loads(screens.read_text("utf-8")) if screens.exists() else {}
    for name in ("launch_to_first_point_s", "opening_s_median"):
        print(f"{name}, as python -m benchmarks.screens kept it: {figures.get(name)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("rates", "accuracy", "memory"))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a slice")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # Elsewhere all cores work, for every competitor.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    common.isolated_folders()
    file = common.RESULTS / "speed.json"
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    kept.update(members=MEMBERS, batch_size=BATCH)
    for part in [args.part] if args.part else ["rates", "accuracy", "memory"]:
        kept[part] = rates(args.rounds, args.seconds) if part == "rates" else goals(part)
        kept.pop("machine", None)
        common.keep("speed", kept)
    show(kept)


if __name__ == "__main__":
    main()
