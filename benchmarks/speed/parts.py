"""Where a training step's time goes: python -m benchmarks.speed.parts

Steps of the HOWTO's network on MNIST, in each precision, under JAX's profiler: every operation that
XLA runs, how often and how long, put down to the part of the program that it comes from (the scopes
that the engine names), with what it multiplies and what it reads and writes.

What XLA has fused counts where its last part comes from. Bytes are those of operands and results,
in the caches or not. Times are those of one core. A few products are XLA's threads' (Eigen's), and
most of their time counts as `between`: what lies between operations, the profiler's time as well.
--operations N lists single operations, too. Other batches are printed and not kept: their rows are
for 128 images as well.
"""

import argparse
import gzip
import json
import os
import re
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.speed.hlo import Cost, Program

STEPS, MEMBERS, BATCH = 10, 2, 128  # of other batches as many steps as are as many images
LAYER = re.compile(r"convolution_\d+|Dense_\d+")
PARTS = ("batch", "weights", "taps", "transforms", "loss", "update", "figures")
BETWEEN = "between"
COLUMNS = ("ms", "share", "calls", "mflop", "mb")


def part_of(cost: Cost) -> str:
    """The part of the step that an operation belongs to."""
    words = re.split(r"[/()]", cost.scope)
    layer = next((word for word in words if LAYER.fullmatch(word)), "")
    named = [word for word in words if word in PARTS]
    if layer and cost.flops:
        inner = "products"
    elif layer.startswith("Dense"):
        inner = "the rest"
    else:
        inner = named[-1] if named else ("relu, pooling" if layer else "")
    direction = "" if not layer else ", backward" if "transpose" in words else ", forward"
    return " ".join(filter(None, [layer, inner])) + direction or "loops, copies"


def traced_events(folder: Path) -> list[dict[str, Any]]:
    """What the profiler wrote down."""
    [file] = folder.rglob("*.trace.json.gz")
    with gzip.open(file) as trace_file:
        return [event for event in json.load(trace_file)["traceEvents"] if event.get("ph") == "X"]


def own_seconds(events: list[dict[str, Any]]) -> list[tuple[str, float]]:
    """Each operation's name and its time without that of what ran within it; "" for none."""
    threads = defaultdict(list)
    for event in events:
        if not event["name"].startswith("end: ") and "wait for" not in event["name"]:
            threads[event["tid"]].append(event)
    durations: list[tuple[str, float]] = []
    for mine in threads.values():
        if not any("hlo_op" in thread_event.get("args", {}) for thread_event in mine):
            continue
        rows: list[tuple[str, float]] = []
        stack: list[tuple[float, int]] = []
        for event in sorted(mine, key=lambda thread_event: (thread_event["ts"], -thread_event.get("dur", 0))):
            while stack and stack[-1][0] <= event["ts"]:
                stack.pop()
            took = event.get("dur", 0) / 1e6
            if stack:
                name, left = rows[stack[-1][1]]
                rows[stack[-1][1]] = name, left - took
            stack.append((event["ts"] + event.get("dur", 0), len(rows)))
            rows.append((event.get("args", {}).get("hlo_op", ""), took))
        durations += rows
    return durations


def table(costs: dict[str, Cost], seconds: list[tuple[str, float]], steps: int, single: bool) -> Any:
    """For each part of a member's step, or each operation: its row, those with most time first."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for name, took in seconds:
        cost = costs.get(name)
        part = part_of(cost) if cost else BETWEEN
        row = sums[f"{part}: {name}" if single else part]
        for n, value in enumerate((took, 1, *(cost[1:] if cost else (0, 0)))):
            row[n] += value
    whole = sum(row[0] for row in sums.values())
    rows = [
        {
            "part": part,
            "ms": round(1e3 * took / steps, 3),
            "share": round(took / whole, 4),
            "calls": round(count / steps),
            "mflop": round(flops / steps / 1e6, 1),
            "mb": round(moved / steps / 1e6, 1),
        }
        for part, (took, count, flops, moved) in sums.items()
    ]
    return sorted(rows, key=lambda row: -row["ms"])


def step_program(written: Path) -> str:
    """The training steps as XLA compiled them, the largest program that it wrote; it is removed."""
    files = list(written.glob("*after_optimizations.txt"))
    text = max(files, key=lambda file: file.stat().st_size).read_text("utf-8")
    for file in files:
        file.unlink()
    return text


def measure(precision: str, batch: int, options: Any, written: Path, single: bool) -> Any:
    """Train some steps under the profiler; XLA writes its programs to a folder."""
    import jax

    from ensemble import datasets
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig(dataset="mnist", members=MEMBERS, batch_size=batch, precision=precision, **options)
    trainer, steps = Trainer(config, datasets.load_dataset("mnist")), max(1, STEPS * BATCH // batch)
    state, _ = trainer.train(trainer.start(), 1, 0, steps)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            trainer.train(state, 1, steps, steps)
        seconds = own_seconds(traced_events(Path(folder)))
    costs = Program(step_program(written)).costs()
    return [table(costs, seconds, steps * MEMBERS * batch / BATCH, each) for each in (False, single)]


def kind_of(part: str) -> str:
    """What a part does, whichever layer's it is."""
    if "products" in part:
        return "products"
    if any(word in part for word in ("transforms", "taps", "weights")):
        return "transforms and taps"
    return next((word for word in ("relu, pooling", "update", BETWEEN) if word in part), "the rest")


def kinds(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The share of the time by what is done, largest first."""
    sums: dict[str, float] = defaultdict(float)
    for row in rows:
        sums[kind_of(row["part"])] += row["share"]
    return {kind: round(sums[kind], 3) for kind in sorted(sums, key=lambda kind: -sums[kind])}


def say(rows: list[dict[str, Any]]) -> None:
    """A table in lines."""
    print(f"{'part':<60}" + "".join(f"{name:>9}" for name in (*COLUMNS, "gflop/s")))
    for row in rows:
        rate = row["mflop"] / row["ms"] if row["ms"] else 0
        cells = f"{row['ms']:>9.2f}{100 * row['share']:>8.1f}%{row['calls']:>9}"
        print(f"{row['part']:<60}{cells}{row['mflop']:>9.0f}{row['mb']:>9.1f}{rate:>9.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--batch-size", type=int, default=BATCH)
    parser.add_argument("--augmented", action="store_true", help="shift 2, rotation 10")
    parser.add_argument("--operations", type=int, default=0, help="list so many as well")
    args = parser.parse_args()
    # A program from the cache tells nothing of the scopes of today's sources.
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    options = {"shift_pixels": 2, "rotation_degrees": 10.0} if args.augmented else {}
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        from ensemble.machine.jax_settings import prepare_jax

        prepare_jax()
        for precision in args.precision:
            figures[precision], single = measure(
                precision, args.batch_size, options, Path(folder), bool(args.operations)
            )
            print(f"\n{precision}, {BATCH} images of a member in batches of {args.batch_size}")
            say(figures[precision])
            shares = kinds(figures[precision])
            print(", ".join(f"{kind} {100 * share:.0f} %" for kind, share in shares.items()))
            if args.operations:
                say(single[: args.operations])
    if args.augmented or args.batch_size != BATCH:
        return
    common.keep("parts", figures)


if __name__ == "__main__":
    main()
