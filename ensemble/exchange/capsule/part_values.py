"""What the numbers and texts of a capsule's parts have to be, once they are unpacked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.detached_status import detach_worker
from ensemble.exchange.capsule.header_checks import CapsuleRun
from ensemble.exchange.capsule.script_element import SAVE_AGAIN
from ensemble.exchange.checks.limits import MOST_SIDE
from ensemble.runs.history import PROBABILITY_TOLERANCE
from ensemble.runs.run_folder import MemberSource, parse_members_json
from ensemble.runs.status import list_remaining_members
from ensemble.shift.results import RESULTS_FORMAT, StressResults, parse_stress_results
from ensemble.shift.stress_job import StressStatus
from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.json_lines import parse_history_line

_WHILE_MEASURING = "The report was written while this run was being measured: it shows the progress at that time."
MOST_ROWS = 300_000  # of a history, which has about one a second
_MOST_TITLE = 200  # letters of what a set of images is called
_PART_SUM_TOLERANCE = 0.02  # that a row may be off 1: a softmax in bfloat16 rounds each number to 2⁻⁸ of it


def check_part_values(name: str, values: NDArray[Any], about: CapsuleRun) -> None:
    """Refuse what no run's part of this name can hold.

    Raises:
      PredictionsError: it does; the part is named.
    """
    if why := _describe_part_error(name, values, about):
        raise PredictionsError(f"its part “{name}” cannot be used ({why}): {SAVE_AGAIN}.")


def _describe_part_error(name: str, values: NDArray[Any], about: CapsuleRun) -> str:
    """Why; "" if all is well."""
    if name == capsule_format.HISTORY:
        return "it has more lines than any run" if (values == ord("\n")).sum() > MOST_ROWS else ""
    if name == capsule_format.LABELS:
        inside = values.min() >= 0 and values.max() < len(about.data.class_names)
        return "" if inside else "a label is not one of its classes"
    if match := capsule_format.EPOCH_PATTERN.fullmatch(name):
        return _describe_probability_error(values, list_remaining_members(about.status, len(values), int(match[2])))
    if match := capsule_format.MEMBERS_PATTERN.fullmatch(name):
        there = list_remaining_members(about.status, len(values), int(match[1]))
        finite = all(np.isfinite(values[member]).all() for member in there)  # of all: a copy
        return "" if finite else "it holds a number that is not finite"
    if capsule_format.SCORE_PATTERN.fullmatch(name):
        return "" if np.isfinite(values).all() else "it holds a number that is not finite"
    try:
        if name == capsule_format.SHIFT_RESULTS:
            parse_shift_results(values, about)
        elif name == capsule_format.SHIFT_STATUS:
            parse_shift_status(values)
        elif name == capsule_format.SOURCES:
            parse_capsule_sources(values, about)
    except ValueError as error:
        return f"{error!s:.200}"
    return ""


def _describe_probability_error(probabilities: NDArray[np.float32], members: tuple[int, ...]) -> str:
    for member in members:
        least, most = probabilities[member].min(), probabilities[member].max()
        if not (least >= 0 and most <= 1 + PROBABILITY_TOLERANCE):  # so that NaN is refused too
            return f"the probabilities of member {member + 1} are not all between 0 and 1"
        if np.abs(probabilities[member].sum(axis=1) - 1).max() > _PART_SUM_TOLERANCE:
            return f"the probabilities of member {member + 1} do not add up to 1"
    return "" if members else "no member remains"


def filter_history_rows(content: NDArray[np.uint8], about: CapsuleRun) -> list[bytes]:
    """The whole lines of a history; those that are none are left out, as they are of any.

    So are lines of epochs that the run cannot have had, or has had before: every page draws them.
    """
    rows, left = list[bytes](), set(range(1, about.config.epochs + 1))
    for row in content.tobytes().split(b"\n"):
        line = parse_history_line(row, about.config.members)
        if line is None or (line["kind"] == "epoch" and line["epoch"] not in left):
            continue
        if line["kind"] == "epoch":
            left.remove(line["epoch"])
        rows.append(row)
    return rows


def parse_shift_results(content: NDArray[np.uint8], about: CapsuleRun) -> StressResults:
    """What was measured of this run under shift; ValueError where it is something else."""
    stress_results = parse_stress_results(_parse_json_object(content))
    if stress_results.format != RESULTS_FORMAT:
        raise ValueError("it has another version")
    if stress_results.dataset != about.config.dataset:
        raise ValueError("it was measured on another dataset")
    if stress_results.members > about.config.members:
        raise ValueError("it has more members")
    if (
        stress_results.images > about.data.test_size
        or stress_results.epoch > about.config.epochs
        or stress_results.side > MOST_SIDE
    ):
        raise ValueError("it has more images or epochs, or larger images")
    keys = [ood_set["key"] for ood_set in stress_results.ood]
    if len(set(keys)) < len(keys):
        raise ValueError("a set of images appears twice")
    if any(len(ood_set["title"]) > _MOST_TITLE for ood_set in stress_results.ood):
        raise ValueError("the name of a set of images is too long")
    return stress_results


def parse_shift_status(content: NDArray[np.uint8]) -> StressStatus:
    """How the measuring ended, or how far it was; ValueError where it is something else."""
    return detach_worker(StressStatus.from_dict(_parse_json_object(content)), _WHILE_MEASURING)


def parse_capsule_sources(content: NDArray[np.uint8], about: CapsuleRun) -> list[MemberSource]:
    """Where each member of a chosen run came from; ValueError where it is something else."""
    sources = parse_members_json(_parse_json_object(content))
    if len(sources) != about.config.members:
        raise ValueError("it has another number of members")
    return sources


def _parse_json_object(content: NDArray[np.uint8]) -> dict[str, Any]:
    document = parse_json(content.tobytes())
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document
