"""What `predict --estimate` adds: how many of the pictures are right, or that it cannot be told."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np

from ensemble.analysis.unlabelled.accuracy_estimate import estimate_accuracy
from ensemble.analysis.unlabelled.output_measures import measure_outputs
from ensemble.cli.output import print_line
from ensemble.errors import ImageError
from ensemble.recognition.picture_reading import Digit
from ensemble.shift.accuracy_fit import RunAccuracyFit
from ensemble.wording.accuracy_estimates import AccuracyStatement


def list_folder_pictures(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths, and in place of a folder the files in it, by name; hidden ones are left out.

    Raises:
      ImageError: a folder cannot be read, or holds no file.
    """
    return tuple(file for path in paths for file in _list_pictures(path))


def _list_pictures(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    try:
        files = sorted(file for file in path.iterdir() if file.name[0] != "." and file.is_file())
    except OSError as error:
        raise ImageError(
            f"The folder {path} cannot be read ({error.strerror or error}): give one that you may read."
        ) from error
    if not files:
        raise ImageError(f"There is no picture in the folder {path}: give one that has some.")
    yield from files


def state_mark_accuracy(fitted: RunAccuracyFit, marks: Sequence[Digit], members: int, noun: str) -> AccuracyStatement:
    classes = fitted.fit.measures.averaged.shape[1]
    probabilities = np.zeros((members, len(marks), classes), np.float32)
    for place, mark in enumerate(marks):
        probabilities[:, place] = mark.members
    return AccuracyStatement(fitted, estimate_accuracy(fitted.fit, measure_outputs(probabilities)), noun)


def print_accuracy_statement(statement: AccuracyStatement, *, as_json: bool) -> None:
    """The last lines of `predict --estimate`, or its last object."""
    if as_json:
        click.echo(json.dumps({"estimate": statement.to_dict()}))
        return
    for line in statement.to_text().splitlines():
        print_line(line)
