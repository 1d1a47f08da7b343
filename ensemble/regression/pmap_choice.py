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

from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.plain_files import open_plain_append
from ensemble.storage.records.field_checks import Count, Seconds, parse_dataclass

if TYPE_CHECKING:
    from ensemble.regression.lbfgs_solver import LbfgsSolver

CHOICE_FILE_NAME, _LOG_FILE_NAME = "choice.json", "log.txt"
_TRIAL_SECONDS = 0.4  # of iterations with each, and at least one iteration
TRIAL_ITERATIONS = 10


class PmapTrial(TypedDict):
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
class PmapChoice:
    """Which was taken, and why: `pmap` where its evaluations took less time.

    Attributes:
      pmap: whether with `pmap`.
      without: the trial on one device; None where there is but one, and nothing to choose.
      with_pmap: the trial on several; None as well then.
    """

    pmap: bool
    without: PmapTrial | None = None
    with_pmap: PmapTrial | None = None


def time_solver(solver: "LbfgsSolver", devices: int) -> PmapTrial:
    """Take a solver's first iterations, and look at the clock after each."""
    point, _ = solver.iterate(solver.start())  # The first also wakes the threads.
    seconds, evaluations = list[float](), list[int]()
    while len(seconds) < TRIAL_ITERATIONS and sum(seconds) < _TRIAL_SECONDS:
        point, iteration = solver.iterate(point)
        seconds.append(iteration.seconds)
        evaluations.append(max(iteration.evaluations, 1))
    return PmapTrial(
        devices=devices,
        seconds=float(np.median(np.divide(seconds, evaluations))),
        iterations=len(seconds),
        evaluations=sum(evaluations),
    )


def choose_faster_way(without: PmapTrial, with_pmap: PmapTrial) -> PmapChoice:
    """The one whose evaluations took less time; without `pmap` where they took the same."""
    return PmapChoice(with_pmap["seconds"] < without["seconds"], without, with_pmap)


def save_pmap_choice(folder: Path, choice: PmapChoice) -> None:
    write_json(folder / CHOICE_FILE_NAME, asdict(choice))
    with open_plain_append(folder / _LOG_FILE_NAME) as log:
        log.write(f"{_describe_pmap_measurement(choice)}\n".encode())


def _describe_pmap_measurement(choice: PmapChoice) -> str:
    if choice.without is None or choice.with_pmap is None:
        return "There is one device: solved without pmap."
    one, many = (f"{1000 * each['seconds']:.4g} ms" for each in (choice.without, choice.with_pmap))
    return (
        f"An evaluation took {one} on one device without pmap, {many} on "
        f"{choice.with_pmap['devices']} with it: solved {'with' if choice.pmap else 'without'} it."
    )


def load_pmap_choice(folder: Path) -> PmapChoice | None:
    """What was chosen for the regression in `folder`; None before that, or if it is unreadable."""
    try:
        return parse_dataclass(PmapChoice, read_json(folder / CHOICE_FILE_NAME))
    except (OSError, ValueError):
        return None
