"""What the numbers and texts of a capsule's parts have to be, once they are unpacked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.capsule import form
from ensemble.exchange.capsule.checks import Known
from ensemble.exchange.capsule.element import SAVE_AGAIN
from ensemble.exchange.capsule.resting import at_rest
from ensemble.exchange.checks.limits import MOST_SIDE
from ensemble.runs.contents import Source, sources_from
from ensemble.runs.history import ROUNDING
from ensemble.runs.status import remaining
from ensemble.shift.results import FORMAT, Results, results_from
from ensemble.shift.status import StressStatus
from ensemble.storage.reading import parse_json
from ensemble.storage.records.lines import parse

WHILE_MEASURING = "The report was written while this run was measured: this is how far it was."
MOST_ROWS = 300_000  # of a history, which has about one a second
MOST_TITLE = 200  # letters of what a set of images is called
SUMS = 0.02  # that a row may be off 1: a softmax in bfloat16 rounds each number to 2⁻⁸ of it


def check_values(name: str, found: NDArray[Any], about: Known) -> None:
    """Refuse what no run's part of this name can hold.

    Raises:
      PredictionsError: it does; the part is named.
    """
    if why := _why_not(name, found, about):
        raise PredictionsError(f"its part “{name}” cannot be taken ({why}): {SAVE_AGAIN}.")


def _why_not(name: str, found: NDArray[Any], about: Known) -> str:
    """Why; "" where all is well."""
    if name == form.HISTORY:
        return "it has more lines than any" if (found == ord("\n")).sum() > MOST_ROWS else ""
    if name == form.LABELS:
        inside = found.min() >= 0 and found.max() < len(about.data.class_names)
        return "" if inside else "a label is none of its classes"
    if match := form.EPOCH.fullmatch(name):
        return _no_probabilities(found, remaining(about.status, len(found), int(match[2])))
    if match := form.MEMBERS.fullmatch(name):
        there = remaining(about.status, len(found), int(match[1]))
        finite = all(np.isfinite(found[member]).all() for member in there)  # of all: a copy
        return "" if finite else "it holds what is no finite number"
    if form.SCORE.fullmatch(name):
        return "" if np.isfinite(found).all() else "it holds what is no finite number"
    try:
        if name == form.SHIFT_RESULTS:
            shift_results(found, about)
        elif name == form.SHIFT_STATUS:
            shift_status(found)
        elif name == form.SOURCES:
            sources(found, about)
    except ValueError as error:
        return f"{error!s:.200}"
    return ""


def _no_probabilities(found: NDArray[np.float32], members: tuple[int, ...]) -> str:
    for member in members:
        least, most = found[member].min(), found[member].max()
        if not (least >= 0 and most <= 1 + ROUNDING):  # so that NaN is refused too
            return f"the probabilities of member {member + 1} are not all between 0 and 1"
        if np.abs(found[member].sum(axis=1) - 1).max() > SUMS:
            return f"the probabilities of member {member + 1} do not add up to 1"
    return "" if members else "no member is left"


def history_rows(content: NDArray[np.uint8], about: Known) -> list[bytes]:
    """The whole lines of a history; those that are none are left out, as they are of any.

    So are lines of epochs that the run cannot have had, or has had before: every page draws them.
    """
    found, left = list[bytes](), set(range(1, about.config.epochs + 1))
    for row in content.tobytes().split(b"\n"):
        line = parse(row, about.config.members)
        if line is None or (line["kind"] == "epoch" and line["epoch"] not in left):
            continue
        if line["kind"] == "epoch":
            left.remove(line["epoch"])
        found.append(row)
    return found


def shift_results(content: NDArray[np.uint8], about: Known) -> Results:
    """What was measured of this run under shift; ValueError where it is something else."""
    found = results_from(_object(content))
    if found.format != FORMAT:
        raise ValueError("it is of another version")
    if found.dataset != about.config.dataset:
        raise ValueError("it was measured on another dataset")
    if found.members > about.config.members:
        raise ValueError("it is of more members")
    if (
        found.images > about.data.test_size
        or found.epoch > about.config.epochs
        or found.side > MOST_SIDE
    ):
        raise ValueError("it is of more images or epochs, or of larger images")
    keys = [one["key"] for one in found.ood]
    if len(set(keys)) < len(keys):
        raise ValueError("a set of images is there twice")
    if any(len(one["title"]) > MOST_TITLE for one in found.ood):
        raise ValueError("the name of a set of images is too long")
    return found


def shift_status(content: NDArray[np.uint8]) -> StressStatus:
    """How the measuring ended, or how far it was; ValueError where it is something else."""
    return at_rest(StressStatus.from_dict(_object(content)), WHILE_MEASURING)


def sources(content: NDArray[np.uint8], about: Known) -> list[Source]:
    """Where each member of a chosen run came from; ValueError where it is something else."""
    found = sources_from(_object(content))
    if len(found) != about.config.members:
        raise ValueError("it is of another number of members")
    return found


def _object(content: NDArray[np.uint8]) -> dict[str, Any]:
    found = parse_json(content.tobytes())
    if not isinstance(found, dict):
        raise ValueError("there is no object")
    return found
