"""The command that reads pictures, and what it says: an object for scripts, a line for people."""

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ensemble.cli.options import DECIMAL_OPTION, EPOCH_OPTION, add_refuse_option
from ensemble.cli.output import print_line
from ensemble.errors import EnsembleError, ImageError
from ensemble.pictures.files.decoding import MAX_BYTES
from ensemble.pictures.preparation import SegmentedPicture
from ensemble.recognition.classifier import Classifier, open_classifier
from ensemble.recognition.picture_reading import Digit, Reading
from ensemble.recognition.reading_fields import serialize_reading
from ensemble.runs.store import find_run, read_regression_run
from ensemble.shift.accuracy_fit import fit_run_accuracy
from ensemble.storage.plain_files import open_plain_file
from ensemble.wording import formats
from ensemble.wording.readings import ABSTENTION_PHRASE


@click.command(name="predict")
@click.argument("run_id", metavar="RUN")
@click.argument("images", metavar="IMAGE...", nargs=-1, required=True, type=Path)
@EPOCH_OPTION
@add_refuse_option
@click.option(
    "--estimate", is_flag=True, help="Say last how many of all are right, as far as that can be told without labels."
)
@DECIMAL_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run_predict_command(
    run_id: str,
    images: tuple[Path, ...],
    epoch: int | None,
    refuse: float,
    estimate: bool,
    decimal: str | None,
    as_json: bool,
) -> None:
    """Read pictures of any common format: digits on photos, scans or drawings, one image else.

    With --estimate an IMAGE may be a folder: all pictures in it. Of a run that predicts numbers
    IMAGE is one table, CSV or Parquet.
    """
    if numeric_run := read_regression_run(run_id):
        if estimate:
            raise click.UsageError("--estimate is for classes: leave it out of a run of numbers.")
        from ensemble.cli.results.predict_numbers import print_table_answers  # it reads tables

        print_table_answers(numeric_run, images, epoch, decimal or "", as_json)
        return
    if decimal:
        raise click.UsageError("--decimal is for tables: leave it out of a run of classes.")
    if estimate:
        from ensemble.cli.results import accuracy_estimate  # here, for its tables take a while

        images = accuracy_estimate.list_folder_pictures(images)
    failed, marks = False, list[Digit]()
    classifier = open_classifier(run_id, epoch)
    fitted = fit_run_accuracy(find_run(run_id), classifier.epoch) if estimate else None
    for path, result in _predict_pictures(classifier, images, refuse):
        if isinstance(result, EnsembleError):
            failed = True
            print_line(f"{escape_path_bytes(path)}: {result}", err=True)
            continue
        fields, reading = result
        marks += reading.digits if estimate else ()
        click.echo(json.dumps(fields)) if as_json else print_line(format_prediction_line(fields))
    if fitted:
        accuracy_estimate.print_accuracy_statement(
            accuracy_estimate.state_mark_accuracy(fitted, marks, classifier.members, classifier.noun), as_json=as_json
        )
    sys.exit(1 if failed else 0)


def _predict_pictures(
    classifier: Classifier, paths: Sequence[Path], refuse: float
) -> Iterator[tuple[Path, tuple[dict[str, Any], Reading] | ImageError]]:
    """For each path what the ensemble reads in it, or why it cannot be read; one at a time.

    Args:
      paths: files of any format that `Classifier.open_picture` knows.
      refuse: the share of real digits that may be rejected, in (0, 1).
    """
    for path in paths:
        try:
            prepared, reading = read_picture(classifier, read_picture_file(path), refuse)
            fields = serialize_reading(classifier, prepared, reading)
            yield path, ({"image": escape_path_bytes(path), **fields}, reading)
        except ImageError as error:
            yield path, error


def read_picture(classifier: Classifier, content: bytes, refuse: float) -> tuple[SegmentedPicture, Reading]:
    """The marks of one file, and what is read in them.

    Raises:
      ImageError: it is no picture that can be read.
    """
    prepared = classifier.prepare_picture(classifier.open_picture(content))
    return prepared, classifier.read_marks(prepared.marks, refuse)


def format_prediction_line(reading: dict[str, Any]) -> str:
    """One line for people on what `_predict_pictures` found in a picture."""
    if reading["refused"]:
        answer = reading["refused"]
    elif not reading["digits"]:
        answer = "no digits."
    elif all(digit["rejected"] for digit in reading["digits"]):
        answer = _describe_abstention(reading["digits"])
    else:
        answer = (
            f"{reading['text']}  ({_describe_reading_confidence(reading)}; votes "
            f"{_format_picture_votes(reading['digits'])})"
        )
    return " ".join([f"{reading['image']}: {answer}", *reading["notes"]])


def _describe_abstention(digits: Sequence[dict[str, Any]]) -> str:
    """What is said where every mark is rejected: there are no odds on nothing."""
    if len(digits) == 1:
        return f"{ABSTENTION_PHRASE}. {digits[0]['why']}".strip()
    return f"{ABSTENTION_PHRASE}: I recognise none of the {len(digits)} marks."


def _describe_reading_confidence(reading: dict[str, Any]) -> str:
    """The probability that everything reported is right: "97.3 %", "97.3 % of the other"."""
    probability_text = formats.format_probability(reading["confidence"])
    accepted_count = sum(not digit["rejected"] for digit in reading["digits"])
    if accepted_count == len(reading["digits"]):
        return probability_text
    return (
        f"{probability_text} of the other"
        if accepted_count == 1
        else f"{probability_text} that the other {accepted_count} are right"
    )


def _format_picture_votes(digits: Sequence[dict[str, Any]]) -> str:
    """The members' votes on each mark, a dash for one that is rejected: "4 9 | – | 7 7"."""
    return " | ".join("–" if digit["rejected"] else _format_vote_row(digit["named_votes"]) for digit in digits)


def _format_vote_row(names: Sequence[str]) -> str:
    """Votes in a row: "7 7 1", long names parted by commas."""
    return (" " if max(map(len, names)) == 1 else ", ").join(names)


def read_picture_file(path: Path) -> bytes:
    """A file's bytes, not many more than a picture may have.

    Raises:
      ImageError: there is no such file, or it cannot be read.
    """
    try:
        with open_plain_file(path) as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise ImageError(
                "This is a folder: name the pictures in it."
                if path.is_dir()
                else "This is a pipe or a device: save the picture to a file and give that."
            ) from error
        raise ImageError(
            f"The file cannot be read ({error.strerror or error}): give a file that exists and that you may read."
        ) from error


def escape_path_bytes(path: Path) -> str:
    """A path as JSON may have it: bytes that are not UTF-8 are spelt out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
