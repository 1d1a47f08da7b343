"""How members are best arranged on this machine's cores: odd members, and groups of members.

`python -m benchmarks.training.arrangements` prints two tables and keeps nothing. The first is the
speed of M members in one process, as many devices as cores, against M = 4's; of a lone member also
with its batches in as many parts as devices, which share them (engine/batch_parts.py). The second
sets one such process beside two with half of the members each, pinned to a core of their own: their
speed, and, with BENCHMARK_LOG=1, processor seconds of each process before its first step. Only
turns count in which nobody else used the machine (benchmarks/quiet.py). On a machine that is never
quiet `--clock cpu` counts processor seconds in every turn: not how long cores wait, but what it
costs.
"""

import argparse
import os
import subprocess
import sys
import time

from benchmarks import common
from benchmarks.quiet import MOST_OTHERS, median, quiet_turns
from benchmarks.speed.turns import Competitor, answer
from benchmarks.training.layouts import BATCH, CLOCKS, images_of

MEMBERS, GROUPED = (1, 3, 4, 5), (4, 8)
STEPS = 12  # of a call: about a second of M = 4
ROUNDS, SECONDS, PATIENCE = 5, 0.9, 240.0


class Pinned(Competitor):
    """One process a core, each with its share of the members."""

    def start(self) -> None:
        """Start its processes, each on a core of its own."""
        self.children = []
        log = None if os.environ.get("BENCHMARK_LOG") else subprocess.DEVNULL
        cores = sorted(os.sched_getaffinity(0))
        for core in cores[: self.processes]:
            os.sched_setaffinity(0, {core})
            self.children.append(
                subprocess.Popen(
                    [sys.executable, "-m", *self.words],
                    stdin=subprocess.PIPE,
                    text=True,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    bufsize=1,
                    cwd=common.ROOT,
                )
            )
        os.sched_setaffinity(0, set(cores))


def be(name: str, members: int, clock: str, parts: int) -> None:
    """A competitor: trains in calls of STEPS steps; first says what its start took."""
    began = time.process_time()
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig("digits", members=members, batch_size=BATCH, network=name, batch_parts=parts)
    trainer = Trainer(config, images_of(name))
    state = trainer.start()
    print(f"{members} members: {time.process_time() - began:.1f} s", file=sys.stderr, flush=True)

    def train() -> float:
        nonlocal state
        state, _ = trainer.train(state, 1, 0, STEPS)
        return members * BATCH * STEPS

    answer(train, CLOCKS[clock])


def competitor(name: str, members: int, processes: int, clock: str, parts: int = 1) -> Competitor:
    """So many members of a network in so many processes, their batches in so many parts."""
    own = (name, str(members // processes), clock, str(parts))
    words = ("benchmarks.training.arrangements", "--be", *own)
    kind = Pinned if processes > 1 else Competitor
    title = f"{members} in {processes}" if parts == 1 else f"{members}, {parts} parts"
    return kind(title, title, words, processes)


def measured(name: str, arrangements: list[tuple[int, ...]], args: argparse.Namespace) -> list[Competitor]:
    """Competitors by members, processes and parts if any, with their undisturbed turns."""
    both = [competitor(name, members, processes, args.clock, *parts) for members, processes, *parts in arrangements]
    for entrant in both:
        entrant.start()
        entrant.wait_until_ready()
    other_share = 1.0 if args.clock == "cpu" else MOST_OTHERS
    quiet_turns(both, args.rounds, args.seconds, args.patience, other_share)
    for entrant in both:
        entrant.stop()
    return both


def table(all_: list[Competitor], base: Competitor) -> str:
    """Speed, and that of `base`, a competitor a row."""
    rows = [
        f"{entrant.name:<12}{median(entrant):>10.0f}{median(entrant) / median(base):>8.2f}{len(entrant.slices):>7}"
        for entrant in all_
    ]
    return "\n".join([f"{'M in groups':<12}{'img·M/s':>10}{'ratio':>8}{'turns':>7}", *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="cnn")
    parser.add_argument("--members", nargs="*", type=int, default=list(MEMBERS))
    parser.add_argument("--grouped", nargs="*", type=int, default=list(GROUPED))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a turn")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds of a table")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="what a second is")
    parser.add_argument("--be", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.be:
        be(args.be[0], int(args.be[1]), args.be[2], int(args.be[3]))
        return
    common.isolated_folders()
    if args.members:
        arrangements: list[tuple[int, ...]] = [(members, 1) for members in args.members]
        cores = len(os.sched_getaffinity(0))
        if 1 in args.members and BATCH % cores == 0 and cores > 1:
            arrangements.insert(1, (1, 1, cores))
        competitors = measured(args.network, arrangements, args)
        print(
            table(competitors, next((entrant for entrant in competitors if entrant.name == "4 in 1"), competitors[0]))
        )
    for members in args.grouped:
        competitors = measured(args.network, [(members, 1), (members, 2)], args)
        print(table(competitors, competitors[0]), flush=True)


if __name__ == "__main__":
    main()
