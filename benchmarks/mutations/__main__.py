"""Check whether the tests notice mistakes: python -m benchmarks.mutations [--draw N --seed N] [--root FOLDER]

Puts one mutation at a time into a copy of the checkout (a plausible mistake in one line, by default each one of
places.toml) and runs tests until the first fails: those that name the module, those of its package, those of the
pages. A test that also fails without the mutation does not count. Prints one line per place and a summary. The exit
status is 1 if more than two mutations survive (or a tenth of them), or if a place is missing: then update its text in
the list. Takes an hour or more on two cores.

With --draw the places are random (drawn_places.py). --keep writes them to a file, to try the same places on another
commit with --places.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

from benchmarks.common import ROOT
from benchmarks.mutations.drawn_places import draw_places, save_places
from benchmarks.mutations.package_tests import HUNG, find_failure, find_tests
from benchmarks.mutations.places import PLACES_FILE, MissingPlaceError, Place, load_places
from benchmarks.mutations.working_copy import WorkingCopy, read_commit

MOST_SURVIVORS = 2
LIMIT_SECONDS = 2400.0  # of the tests of a package, or of the pages


class Result(NamedTuple):
    """What came of a place.

    Attributes:
      place: which.
      outcome: whether a test noticed it; "missing" where its text is not there.
      test: the test that did; of a missing place why.
      seconds: how long that took.
    """

    place: Place
    outcome: Literal["caught", "survived", "missing"]
    test: str
    seconds: float

    def __str__(self) -> str:
        outcome = self.outcome if self.outcome == "caught" else self.outcome.upper()
        where = f"{self.place.number:>2} {self.place.file:<42} {outcome:<8}"
        return f"{where} {self.seconds:5.0f} s  {self.test or self.place.why}"


class MutationRunner:
    """Breaks a working copy at one place after the other, and sees whether a test notices.

    Args:
      copy: the working copy.
      limit: seconds after which the tests of a package, or of the pages, are taken to hang.
    """

    def __init__(self, copy: WorkingCopy, limit: float) -> None:
        self._copy, self._limit = copy, limit
        self._failing: list[str] = []  # tests that fail without any slip: they tell nothing

    def try_place(self, place: Place) -> Result:
        """Break the copy at a place, and see what comes of it."""
        began = time.monotonic()
        try:
            caught = self._find_catching_test(place)
        except MissingPlaceError as error:
            return Result(place, "missing", str(error), 0.0)
        seconds = time.monotonic() - began
        return Result(place, "caught" if caught else "survived", caught, seconds)

    def _find_catching_test(self, place: Place) -> str:
        """The test that fails because of the slip; "" where none does."""
        for files in find_tests(self._copy.tree, place):
            while True:
                with self._copy.broken_at(place):
                    failed = self._find_failure(files)
                if not failed:
                    break
                if failed == HUNG or not self._find_failure([failed]):
                    return failed
                print(f"   {failed} fails without the slip as well: left out", flush=True)
                self._failing.append(failed)
        return ""

    def _find_failure(self, tests: Sequence[str]) -> str:
        return find_failure(self._copy.tree, tests, self._failing, self._limit)


def describe_results(results: Sequence[Result]) -> str:
    """The sum in a line: "38 of 40 caught; survived: 3, 17"."""
    caught = [result for result in results if result.outcome == "caught"]
    summary = f"{len(caught)} of {len(results)} caught"
    for outcome in ("survived", "missing"):
        numbers = [str(result.place.number) for result in results if result.outcome == outcome]
        summary += f"; {outcome}: {', '.join(numbers)}" if numbers else ""
    return summary


def has_caught_enough(results: Sequence[Result]) -> bool:
    """Whether at most two slips survive, or a tenth of them, and no place is missing."""
    outcomes = [result.outcome for result in results]
    return "missing" not in outcomes and outcomes.count("survived") <= max(MOST_SURVIVORS, len(outcomes) // 10)


def save_results(file: Path, commit: str, results: Sequence[Result]) -> None:
    """Write the results as JSON."""
    rows = [{**result._asdict(), "place": result.place._asdict()} for result in results]
    file.write_text(json.dumps({"commit": commit, "places": rows}, indent=1) + "\n", "utf-8")


def choose_places(places: Sequence[Place], only: str, first: int) -> list[Place]:
    """The places with the numbers in `only` ("3,17"; "" for all), from the number `first` on."""
    numbers = {int(number_text) for number_text in only.split(",") if number_text} or {place.number for place in places}
    return [place for place in places if place.number in numbers and place.number >= first]


def main(words: list[str] | None = None) -> int:
    """Try the places, print; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--only", default="", metavar="N,N", help="these places alone")
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="N", help="this and on")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="FOLDER", help="a git checkout")
    parser.add_argument("--places", type=Path, default=PLACES_FILE, metavar="FILE")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="so many drawn places instead of the list's")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the drawn places down there")
    parser.add_argument("--parallel", type=int, default=1, metavar="N", help="so many places at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results there")
    parser.add_argument("--seconds", type=float, default=LIMIT_SECONDS, help="after which one hangs")
    args = parser.parse_args(words)
    commit, results = read_commit(args.root), list[Result]()
    places = draw_places(args.root, args.draw, args.seed) if args.draw else load_places(args.places)
    if args.keep:
        save_places(args.keep, places)
    print(f"At {commit[:8]}:", flush=True)
    with ExitStack() as stack, ThreadPoolExecutor(args.parallel) as pool:
        runners: SimpleQueue[MutationRunner] = SimpleQueue()
        for _ in range(args.parallel):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ensemble-mutations-"))
            runners.put(MutationRunner(WorkingCopy(args.root, Path(folder)), args.seconds))

        def try_place(place: Place) -> Result:
            runner = runners.get()
            try:
                return runner.try_place(place)
            finally:
                runners.put(runner)

        for result in pool.map(try_place, choose_places(places, args.only, args.first)):
            results.append(result)
            print(result, flush=True)
            if args.json:
                save_results(args.json, commit, results)
    print(describe_results(results))
    return 0 if has_caught_enough(results) else 1


if __name__ == "__main__":
    sys.exit(main())
