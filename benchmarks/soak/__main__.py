"""What may not lose anything, attacked: python -m benchmarks.soak [PART …] [--seed N] [--quick]

Random kills over training, resuming, checkpointing, measuring under shift, regression, a queue of
runs, sweeps and their database; processes, nodes and tasks of runs in groups, here and on a Slurm
of this machine, lost or cancelled; uploads of every kind; sessions of a server with few files, and
connections that say nothing; launches at once; disks that fill, are slow or know no locks; a clock
that is set; a server that begins anew. It prints a table, and each loss with its seed; the exit
status is 1 if anything was lost. Two hours on two busy cores; the disks that fill and Slurm want
root, the slow one strace.
"""

import argparse
import random
import sys
from collections.abc import Callable

from benchmarks.soak.clocks import clocks
from benchmarks.soak.full_disk import full_disk
from benchmarks.soak.groups import groups
from benchmarks.soak.kills import kills
from benchmarks.soak.launches import launches
from benchmarks.soak.no_locks import try_without_locks
from benchmarks.soak.place import Place, temporary
from benchmarks.soak.restarts import restarts
from benchmarks.soak.rows import Row, say, table
from benchmarks.soak.sessions import sessions
from benchmarks.soak.slow_disk import slow_disk
from benchmarks.soak.sockets import open_silent_sockets
from benchmarks.soak.sweep_storages import fill_sweep_disks, kill_databases
from benchmarks.soak.sweeps import kill_sweeps
from benchmarks.soak.tasks import tasks
from benchmarks.soak.uploads import uploads

Part = Callable[[Place, random.Random, int], list[Row]]
# How often each is tried, and how often with --quick.
PARTS: dict[str, tuple[Part, int, int]] = {
    "kills": (kills, 50, 6),
    "uploads": (uploads, 300, 30),
    "sessions": (sessions, 300, 100),
    "launches": (launches, 20, 5),
    "disk": (full_disk, 3, 1),
    "slow": (slow_disk, 20, 2),
    "clocks": (clocks, 18, 3),
    "restarts": (restarts, 10, 2),
    "groups": (groups, 24, 4),
    "tasks": (tasks, 28, 7),
    "sweeps": (kill_sweeps, 15, 3),
    "databases": (kill_databases, 6, 1),
    "sweep-disks": (fill_sweep_disks, 6, 1),
    "no-locks": (try_without_locks, 16, 8),
    "sockets": (open_silent_sockets, 8, 4),
}


def main(words: list[str] | None = None) -> int:
    """Attack, print the table; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=0, help="of every draw")
    parser.add_argument("--quick", action="store_true", help="a few of each")
    args = parser.parse_args(words)
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    rows = list[Row]()
    with temporary() as place:
        for name in args.parts or PARTS:
            part, many, few = PARTS[name]
            say(f"{name}, seed {args.seed}")
            # A seed of its own: a part alone draws what it draws among the others.
            rows += part(place, random.Random(f"{args.seed} {name}"), few if args.quick else many)
    print(f"seed {args.seed}", table(rows), sep="\n")
    return 1 if any(row.lost for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
