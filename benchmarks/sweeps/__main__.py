"""What a sweep costs beside training: python -m benchmarks.sweeps [--json] [--trials 10]

Two measurements. In one process each trial's time beyond the training of its run: asked for, its
folder made, its programs found again, its checkpoint saved, its value told; the first trial, which
compiles, does not count. Then eight processes share trials whose runs learn in no time, for each
storage: seconds a trial. A PostgreSQL of its own is started where there is one.
"""

import argparse
import json
import sys

from benchmarks import common

MOST_SECONDS = 1.0


def main(words: list[str] | None = None) -> int:
    """Measure, print; the exit status is 1 where a trial costs more than a second."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweeps", description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--network", default="cnn")
    args = parser.parse_args(words)
    common.isolated_folders()
    from benchmarks.sweeps.overhead import overhead
    from benchmarks.sweeps.storages import seconds_a_trial

    beyond = overhead(args.network, args.trials)
    print(f"a trial beyond its training: {beyond['median']:.2f} s, at most {beyond['most']:.2f} s")
    shared = seconds_a_trial()
    for storage, seconds in shared.items():
        print(f"eight workers, {storage}: {seconds:.3f} s a trial")
    figures = {"overhead_seconds": beyond, "seconds_a_trial": shared}
    common.keep("sweeps", figures)
    if args.json:
        print(json.dumps(figures))
    return int(beyond["median"] > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
