"""How often each verdict is wrong: python -m benchmarks.verdicts [--json] [--quick]

Test sets of 50, 500 and 10,000 images are drawn from populations of 1 to 10 members in which a
difference is truly nothing, or truly twice the margin that is accepted; the pages' own functions
judge them; claims about numbers are tried on 1 to 200 examples. A verdict that promises to be wrong
at most 5 % of the time has to be. Of a rate
stands its standard error, since it is counted on so many draws. The bootstrap that stood in the
place of today's intervals is there for comparison and does not count. Claims about settings are
tried on 15 seeds of real runs on MNIST and on Digits, trained here; what is said of two runs, not
of their settings, does not count. An hour and three quarters on two
cores that did other work too.
"""

import argparse
import json
import sys
from typing import Any

from benchmarks import common
from benchmarks.verdicts import trainings
from benchmarks.verdicts.simulation import VERDICTS, simulated

PROMISED = 0.05


def main(words: list[str] | None = None) -> int:
    """Simulate, print; the exit status is 1 where a rate is above what is promised.

    Above by more than two standard errors, since of so many rates some lie above by chance.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--verdict", action="append", help="only this one; keeps nothing")
    parser.add_argument("--size", type=int, action="append", help="only so many images, likewise")
    parser.add_argument("--trainings", action="store_true", help="claims about settings alone")
    args = parser.parse_args(words)
    from ensemble.machine.jax_settings import prepare_jax

    part = bool(args.verdict or args.size)
    rows = []
    if not args.trainings:
        rows = simulated(args.quick, args.processes, args.verdict, args.size)
    training_rows, measured = list[dict[str, Any]](), dict[str, Any]()
    if not part:
        common.isolated_folders()
        prepare_jax()
        training_rows, measured = trainings.simulate_trainings(args.quick)
    counted = [row for row in rows if VERDICTS[row["verdict"]][2]]
    counted += [row for row in training_rows if row["counts"]]
    every = [*rows, *training_rows]
    names = dict.fromkeys(row["verdict"] for row in every)
    rates = {name: max(row["wrong"] for row in every if row["verdict"] == name) for name in names}
    worst = max(row["wrong"] for row in counted)
    above = [row for row in counted if row["wrong"] - 2 * row["standard_error"] > PROMISED]
    print(f"worst of what counts: {worst:.2%}; above {PROMISED:.0%} beyond chance: {len(above)}")
    figures = {"rates": rates, "worst_rate": worst, "above": above, "rows": every, **measured}
    if not (args.quick or args.trainings or part):
        common.keep("verdicts", figures)
    if args.json:
        print(json.dumps(figures))
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
