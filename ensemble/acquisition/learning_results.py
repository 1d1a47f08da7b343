"""What an experiment with labels has found so far: a line for each ensemble that was trained."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.acquisition.learning_job import LearningConfig
from ensemble.analysis.acquisition.learning_gain import LearningGain, compute_learning_gain
from ensemble.analysis.inference.image_groups import Groups
from ensemble.datasets.own.pools.pool_arms import BOTH_ARMS, CHOSEN_ARM, RANDOM_ARM
from ensemble.errors import RunError
from ensemble.storage.disk_errors import describe_os_error
from ensemble.storage.plain_files import open_plain_append, parse_json, read_limited_bytes
from ensemble.storage.records.field_checks import Count, MetricValue, parse_dataclass

RESULTS_FILE = "results.jsonl"
_MAX_RESULTS_BYTES = 2**30


@dataclass(frozen=True)
class LearningResult:
    """One ensemble that was trained.

    Attributes:
      place: which of the seeds, from 0.
      arm: "chosen", "random", or "both" before the first round.
      round: from 0.
      labels: how many training images it had.
      images: test images.
      accuracy: of the averaged probabilities on the test images.
      nll: likewise, in nats.
      right: whether each test image is right, packed eight to a byte, in hexadecimal.
      added: numbers of the training images that this round added.
      following: those that the next round will add to this arm.
    """

    place: Count
    arm: str
    round: Count
    labels: Count
    images: Count
    accuracy: MetricValue
    nll: MetricValue
    right: str
    added: list[Count] = field(default_factory=list)
    following: list[Count] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, str, int]:
        """Which training it is of."""
        return self.place, self.arm, self.round

    def unpack_right(self) -> NDArray[np.bool_]:
        """(N,), whether each test image is right; ValueError where it cannot be read."""
        packed = np.frombuffer(bytes.fromhex(self.right), np.uint8)
        if len(packed) != (self.images + 7) // 8:
            raise ValueError("it has another number of test images")
        return np.unpackbits(packed, count=self.images).astype(bool)


def pack_right(right: NDArray[np.bool_]) -> str:
    """(N,) as `LearningResult.right` has it."""
    return np.packbits(right).tobytes().hex()


def append_result(folder: Path, result: LearningResult) -> None:
    """Add a line, which is on the disk when this returns; OSError where it cannot be written."""
    with open_plain_append(folder / RESULTS_FILE) as file:
        # A line before it may have been cut short by a kill.
        file.write(b"\n" * bool(file.tell()) + json.dumps(asdict(result)).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_results(folder: Path) -> dict[tuple[int, str, int], LearningResult]:
    """What was found so far, by which training it is of; torn lines are passed over.

    Raises:
      RunError: the file is there and cannot be read.
    """
    results = dict[tuple[int, str, int], LearningResult]()
    path = folder / RESULTS_FILE
    try:
        rows = read_limited_bytes(path, _MAX_RESULTS_BYTES).split(b"\n")
    except FileNotFoundError:
        return results
    except (OSError, ValueError) as error:
        why = describe_os_error(error) if isinstance(error, OSError) else str(error)
        raise RunError(
            f"The results of “{folder.name}” cannot be read ({why}): put {path} back, or delete "
            "the experiment and begin anew."
        ) from error
    for row in rows:
        try:
            if row:
                result = parse_dataclass(LearningResult, parse_json(row))
                result.unpack_right()
                results[result.key] = result
        except ValueError:
            continue
    return results


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """Both arms as far as they are.

    Attributes:
      label_counts: (R + 1,), before the first round and after each.
      chosen: (K, R + 1), accuracy of the arm that chooses, of each seed; NaN of what is to come.
      at_random: likewise of the random arm.
      complete: how many seeds have all rounds of both arms.
      gain: the difference of the arms, of the complete seeds; None of fewer than two.
      images: test images; 0 where nothing is there yet.
    """

    label_counts: tuple[int, ...]
    chosen: NDArray[np.float64]
    at_random: NDArray[np.float64]
    complete: int
    gain: LearningGain | None
    images: int


def collect_curves(
    config: LearningConfig, results: dict[tuple[int, str, int], LearningResult], groups: Groups | None = None
) -> LearningCurves:
    """The two arms of an experiment, and their difference so far.

    Args:
      config: of the experiment.
      results: as of `read_results`.
      groups: (N,), of test images that belong together; None where all are apart.
    """
    rounds = config.rounds + 1
    curves = {arm: np.full((config.seeds, rounds), np.nan) for arm in (CHOSEN_ARM, RANDOM_ARM)}
    complete, images = list[int](), 0
    for place in range(config.seeds):
        there = 0
        for arm, curve in curves.items():
            for number in range(rounds):
                found = _find_result(results, place, arm, number)
                if found and found.accuracy is not None:
                    curve[place, number] = found.accuracy
                    images, there = found.images, there + 1
        if there == 2 * rounds:
            complete.append(place)
    gain = None
    if len(complete) > 1:
        right = {
            arm: np.stack(
                [[_unpack_result(results, place, arm, number) for number in range(rounds)] for place in complete]
            )
            for arm in curves
        }
        gain = compute_learning_gain(np.array(config.label_counts), right[CHOSEN_ARM], right[RANDOM_ARM], groups)
    return LearningCurves(
        label_counts=config.label_counts,
        chosen=curves[CHOSEN_ARM],
        at_random=curves[RANDOM_ARM],
        complete=len(complete),
        gain=gain,
        images=images,
    )


def _find_result(
    results: dict[tuple[int, str, int], LearningResult], place: int, arm: str, number: int
) -> LearningResult | None:
    """The result of a seed's arm after a round; before the first both arms have the same."""
    return results.get((place, arm if number else BOTH_ARMS, number))


def _unpack_result(
    results: dict[tuple[int, str, int], LearningResult], place: int, arm: str, number: int
) -> NDArray[np.bool_]:
    found = _find_result(results, place, arm, number)
    assert found is not None
    return found.unpack_right()
