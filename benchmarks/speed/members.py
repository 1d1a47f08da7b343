"""Speed by the number of members: python -m benchmarks.speed.members

For each number of members M, four training loops take turns on this machine's CPU, a slice of a few
seconds each: this engine in float32 and in bfloat16, the HOWTO's loop with a CPU device per member,
and one member after another on one device, whose speed does not depend on M. All train on MNIST with
batches of 128. Prints images times members per second, the median over the rounds, and how many
times as fast as the other two loops float32 is. Takes about 2 minutes; nothing is stored.
"""

import argparse
import os
import statistics

from benchmarks import common
from benchmarks.speed.turns import Competitor, ratio, take_turns

MEMBERS, ROUNDS, SECONDS = (1, 2, 4, 8), 3, 1.0
LOOPS = "benchmarks.speed.jax_loops"
RIVALS = ("howto", "one by one")


def create_competitors(members: int) -> list[Competitor]:
    """Return the four loops with so many members."""
    words = {
        "float32": ("engine", "float32", str(members)),
        "bfloat16": ("engine", "bfloat16", str(members)),
        "howto": ("howto", str(members)),
        "one by one": ("one_by_one",),
    }
    return [Competitor(name, name, (LOOPS, *arguments)) for name, arguments in words.items()]


def format_row(members: int, competitors: list[Competitor]) -> str:
    """Return one line of the table: the speed of each loop, and the ratios of float32 to its rivals."""
    by_name = {competitor.name: competitor for competitor in competitors}
    speeds = "".join(f"{statistics.median(competitor.slices):>12,.0f}" for competitor in competitors)
    ratios = "".join(f"{ratio(by_name['float32'], by_name[rival]):>22.2f}" for rival in RIVALS)
    return f"{members:>3}{speeds}{ratios}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, nargs="+", default=MEMBERS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a slice")
    args = parser.parse_args()
    os.environ["JAX_PLATFORMS"] = "cpu"
    common.isolated_folders()
    names = [competitor.name for competitor in create_competitors(1)]
    head = "".join(f"{name:>12}" for name in names) + "".join(f"{'float32 / ' + name:>22}" for name in RIVALS)
    print(f"{'M':>3}{head}", flush=True)
    for members in args.members:
        competitors = create_competitors(members)
        take_turns(competitors, args.rounds, args.seconds)
        print(format_row(members, competitors), flush=True)


if __name__ == "__main__":
    main()
