"""Files of predictions, one or one a member, to members' outputs that have been checked."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ensemble.config import REGRESSION
from ensemble.errors import PredictionsError
from ensemble.exchange.capsule.script_element import is_web_page
from ensemble.exchange.file_task import File, build_task_error, is_numeric_file, open_prediction_file
from ensemble.exchange.files.file_predictions import FilePredictions, NamedFilePredictions, name_file_in_errors
from ensemble.exchange.files.npz_archive import open_prediction_archive as archive_of
from ensemble.exchange.files.npz_predictions import read_npz_predictions
from ensemble.exchange.files.tables import read_csv_predictions, read_parquet_predictions
from ensemble.exchange.member_outputs import MemberOutputs, UnlabelledOutputs
from ensemble.exchange.prediction_merge import merge_predictions, merge_unlabelled_predictions
from ensemble.files.numbers import NumberRules
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader, open_bounded_file

_PREFIX_BYTES = 64  # bytes, by which a web page is told: blanks may stand first
_WEB_PAGE_MESSAGE = "it is a web page: import reports separately from files of predictions."


def read_prediction_files(
    files: Sequence[File], most_bytes: int | None = None, labels_as: str = "", decimal: str = ""
) -> MemberOutputs:
    """What one file holds, or several with a member each (or more).

    Args:
      files: .npz, CSV or Parquet, told by what they begin with: paths, or what was uploaded,
        which has a `name`.
      most_bytes: of memory that may be taken; None for as much as there is.
      labels_as: "names", "positions" or "from-1", where labels could be read several ways; "" for
        what names and predictions say.
      decimal: "point" or "comma", where numbers of a CSV could be read in two ways; "" for what its cells say.

    Returns:
      The outputs as float32 probabilities; their memory is nearly all that is taken.

    Raises:
      PredictionsError: they cannot be taken; the file, the entry and what to do are named.
    """
    if not files:
        raise PredictionsError("No file was given: give one, or one for each member.")
    try:
        with ExitStack() as held:
            return merge_predictions(_read_files(files, held, most_bytes, decimal), most_bytes, labels_as)
    except PredictionsError as error:
        if numbers := next(filter(is_numeric_file, files), None):
            raise build_task_error(numbers, REGRESSION) from error
        raise


def read_unlabelled_files(files: Sequence[File], most_bytes: int | None = None, decimal: str = "") -> UnlabelledOutputs:
    """As `read_prediction_files`, of examples that need no labels.

    Raises:
      PredictionsError: they cannot be taken; the file, the entry and what to do are named.
    """
    with ExitStack() as held:
        return merge_unlabelled_predictions(_read_files(files, held, most_bytes, decimal), most_bytes)


def is_report_file(file: File) -> bool:
    """Whether a file begins like a web page; one that cannot be read does not."""
    try:
        if isinstance(file, Path):
            with open_bounded_file(file) as bounded_file:
                return is_web_page(bounded_file.read(_PREFIX_BYTES))
        file.seek(0)
        return is_web_page(file.read(_PREFIX_BYTES))
    except (DamagedFileError, OSError):
        return False


def _read_files(
    files: Sequence[File], held: ExitStack, most_bytes: int | None, decimal: str
) -> list[NamedFilePredictions]:
    rules, read = NumberRules(decimal), list[NamedFilePredictions]()
    each = None if most_bytes is None else most_bytes // len(files)
    for file in files:
        name = Path(file.name).name or "the file"
        with name_file_in_errors(name):
            predictions = _parse_prediction_file(open_prediction_file(file, held), held, each, rules)
        read.append(NamedFilePredictions(name, predictions))
    return read


def _parse_prediction_file(
    file: BoundedReader, held: ExitStack, most: int | None, rules: NumberRules
) -> FilePredictions:
    start = file.read(8)
    file.seek(0)
    if is_web_page(start):
        raise PredictionsError(_WEB_PAGE_MESSAGE)
    if start.startswith(b"PK"):
        return read_npz_predictions(held.enter_context(archive_of(file)))
    if start.startswith(b"PAR1"):
        return read_parquet_predictions(file, most)
    return read_csv_predictions(file, most, rules)
