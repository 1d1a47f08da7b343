"""Whether a file from outside holds predicted classes or predicted numbers, decided once by evidence.

Probabilities or logits with labels that are integers or text are classes; means with spreads, quantiles or samples
next to targets, and predictions next to targets with fractions, are numbers.
"""

import io
import shlex
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from ensemble.config import CLASSIFICATION, REGRESSION
from ensemble.errors import PredictionsError
from ensemble.exchange.files.columns import has_class_columns, is_number_type
from ensemble.exchange.files.npz_archive import InMemoryFile, NpzArchive
from ensemble.exchange.files.npz_archive import open_prediction_archive as open_archive
from ensemble.exchange.files.npz_predictions import ARRAY_NAMES, OUTPUT_NAMES, look_like_probabilities
from ensemble.exchange.files.parquet_table import ParquetTable, open_parquet_table
from ensemble.files.columns import NumberColumns, find_role, parse_number_columns
from ensemble.files.table import CsvLayout, TableError, find_csv_layout, is_plain_number
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader, open_bounded_file

File = Path | BinaryIO

_MOST_TARGET_BYTES = 2**26  # that are loaded to look at them


def open_prediction_file(file: File, held: ExitStack) -> BoundedReader:
    """A file to read from until `held` is closed.

    Raises:
      PredictionsError: it cannot be read; says what to do.
    """
    if not isinstance(file, Path):
        file.seek(0)
        content = file.getvalue() if isinstance(file, io.BytesIO) else file.read()
        return held.enter_context(InMemoryFile(content))
    try:
        return held.enter_context(open_bounded_file(file))
    except DamagedFileError as error:
        raise PredictionsError(
            "it is a folder, a pipe or a device: give files, one for all members or one for each member."
        ) from error
    except OSError as error:
        raise PredictionsError(
            f"it cannot be read ({error.strerror or error}): give a file that exists and that you may read."
        ) from error


def is_numeric_file(source: File) -> bool:
    """Return whether a file holds predicted numbers: the one decision of page and command.

    Classes come first: `p_0`, `p_1` … with labels of theirs are classes even if there are columns
    `mean` and `std`, and so is an array (members, examples, classes). Means without a spread count
    only if they are called so, or next to targets with fractions, since a column `prediction` may be a class.
    """
    try:
        with ExitStack() as held:
            file = open_prediction_file(source, held)
            start = read_start(file)
            if start.startswith(b"PK"):
                archive = held.enter_context(open_archive(file))
                return not has_class_arrays(archive) and _are_numbers(*_sample_array_targets(archive))
            if start == b"PAR1":
                table = held.enter_context(open_parquet_table(file))
                names, texts, labels = sample_parquet_labels(table)
            else:
                names, texts, labels = sample_csv_labels(find_csv_layout(file))
            return detect_task(names, texts, labels) == REGRESSION
    except (PredictionsError, TableError, DamagedFileError, OSError):
        return False


def detect_task(names: Sequence[str], text_columns: Collection[str], labels: Collection[str]) -> str:
    """Return what a table holds predictions for: `CLASSIFICATION` or `REGRESSION`; "" if for neither.

    Args:
      names: of its columns.
      text_columns: those without numbers.
      labels: different cells of the column of labels or targets, those of the first rows at least.
    """
    if has_class_columns(names, text_columns, labels):
        return CLASSIFICATION
    return REGRESSION if _are_numbers(parse_number_columns(names), labels) else ""


def build_task_error(source: File, task: str) -> PredictionsError:
    """The refusal of a file with predictions for this task, which names the command that takes it."""
    path, name = str(source if isinstance(source, Path) else source.name), Path(source.name).name or "the file"
    if task == CLASSIFICATION:
        return PredictionsError(
            f"{name}: it holds probabilities or logits of classes, not predicted numbers. Read it with `ensemble "
            f'import {shlex.quote(path)}`, in Python with ensemble.Predictions.from_files("{path}").'
        )
    return PredictionsError(
        f"{name}: it holds predicted numbers, not classes. Judge it with `ensemble numbers {shlex.quote(path)}`, in "
        "Python with ensemble.judge_numbers(mean, targets, std=std)."
    )


def _are_numbers(columns: NumberColumns, targets: Collection[str]) -> bool:
    numbers = [float(target.replace(",", ".")) for target in targets if is_plain_number(target)]
    has_fractions = len(numbers) > 2 and 2 * sum(not number.is_integer() for number in numbers) > len(targets)
    return columns.is_certain or bool(columns.means and has_fractions)


def _sample_array_targets(archive: NpzArchive) -> tuple[NumberColumns, set[str]]:
    columns = parse_number_columns(archive.array_names)
    name = columns.keys.get("target", "")
    if not name or archive.array_header(name).nbytes > _MOST_TARGET_BYTES:
        return columns, set()
    return columns, set(map(str, archive.load_array(name).reshape(-1).tolist()))


def has_class_arrays(archive: NpzArchive) -> bool:
    """Return whether an archive holds classes: by its names, or by an array of their shape."""
    names = archive.array_names
    plain = {name.strip().casefold(): name for name in names}
    if any(alias in plain for kind in ("probabilities", "logits") for alias in ARRAY_NAMES[kind]):
        return True
    for output in OUTPUT_NAMES:
        if output not in plain:
            continue
        shape = archive.array_header(plain[output]).shape
        if len(shape) >= 3 and shape[-1] > 1:
            return True
        if len(shape) == 2 and shape[-1] > 1 and look_like_probabilities(archive, plain[output]):
            return True
    return False


def sample_csv_labels(layout: CsvLayout) -> tuple[list[str], set[str], set[str]]:
    label = find_role("label", layout.names)
    cells = layout.list_cells(label) if label else []
    return layout.names, layout.list_text_columns(), set(cells)


def sample_parquet_labels(table: ParquetTable) -> tuple[list[str], set[str], set[str]]:
    schema = table.layout.schema
    texts = {field.name for field in schema if not is_number_type(field.type)}
    label = find_role("label", schema.names)
    batch = next(table.read_batches([label]), None) if label else None
    cells = [] if batch is None else batch.column(0).to_pylist()
    return schema.names, texts, {str(cell) for cell in cells if cell is not None}


def read_start(file: BoundedReader) -> bytes:
    start = file.read(4)
    file.seek(0)
    return start
