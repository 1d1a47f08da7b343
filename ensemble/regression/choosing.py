"""With `pmap` or without: what is faster on a regression's own samples, tried for a moment.

Which of the two is faster hangs on the machine, the problem and what else runs meanwhile, so
nothing but trying tells. Only one solver is in memory at a time: they are tried one after the
other, over the first iterations, which take both along the same path. What was chosen is kept with
the regression: begun once more, as after a node was taken away, it is solved the same way.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.reading import opened_to_append
from ensemble.storage.records.fields import Count, Seconds, read_as

if TYPE_CHECKING:
    from ensemble.regression.lbfgs import Solver

FILE, LOG = "choice.json", "log.txt"
TRIED_SECONDS = 0.4  # of iterations with each, and at least one iteration
TRIED_ITERATIONS = 10


class Tried(TypedDict):
    """What a moment of one of the two came to.

    Attributes:
      devices: it ran on so many.
      seconds: of one evaluation of the objective with its gradient and its share of the step:
        the median over the iterations.
      iterations: that were measured, after a first one that was not.
      evaluations: of the objective, in these.
    """

    devices: Count
    seconds: Seconds
    iterations: Count
    evaluations: Count


@dataclass(frozen=True)
class Choice:
    """Which was taken, and why: `pmap` where its evaluations took less time.

    Attributes:
      pmap: whether with `pmap`.
      without: the trial on one device; None where there is but one, and nothing to choose.
      with_pmap: the trial on several; None as well then.
    """

    pmap: bool
    without: Tried | None = None
    with_pmap: Tried | None = None


def tried(solver: "Solver", devices: int) -> Tried:
    """Take a solver's first iterations, and look at the clock after each.

    Args:
      solver: one that has just been made.
      devices: how many it is spread over.
    """
    point, _ = solver.iterate(solver.start())  # The first also wakes the threads.
    seconds, evaluations = list[float](), list[int]()
    while len(seconds) < TRIED_ITERATIONS and sum(seconds) < TRIED_SECONDS:
        point, found = solver.iterate(point)
        seconds.append(found.seconds)
        evaluations.append(max(found.evaluations, 1))
    return Tried(
        devices=devices,
        seconds=float(np.median(np.divide(seconds, evaluations))),
        iterations=len(seconds),
        evaluations=sum(evaluations),
    )


def faster(without: Tried, with_pmap: Tried) -> Choice:
    """The one whose evaluations took less time; without `pmap` where they took the same."""
    return Choice(with_pmap["seconds"] < without["seconds"], without, with_pmap)


def keep_choice(folder: Path, choice: Choice) -> None:
    """Write it beside the regression's settings, and into its log."""
    write_json(folder / FILE, asdict(choice))
    with opened_to_append(folder / LOG) as log:
        log.write(f"{said(choice)}\n".encode())


def said(choice: Choice) -> str:
    """What was measured and chosen, in a line."""
    if choice.without is None or choice.with_pmap is None:
        return "There is one device: solved without pmap."
    one, many = (f"{1000 * each['seconds']:.4g} ms" for each in (choice.without, choice.with_pmap))
    return (
        f"An evaluation took {one} on one device without pmap, {many} on "
        f"{choice.with_pmap['devices']} with it: solved {'with' if choice.pmap else 'without'} it."
    )


def read_choice(folder: Path) -> Choice | None:
    """What was chosen for the regression in `folder`; None before that, or if it is unreadable."""
    try:
        return read_as(Choice, read_json(folder / FILE))
    except (OSError, ValueError):
        return None
