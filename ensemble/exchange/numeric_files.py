"""Files of predicted numbers: each member's mean and spread for each example, and the targets.

An `.npz` holds arrays (M, N), a table a row an example and member, or a row an example with
columns for each member. Names decide; what was assumed is noted.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, number_groups
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import MOST_EXAMPLES, MOST_MEMBERS, check_free_memory
from ensemble.exchange.files.columns import STATISTIC_NAMES, has_class_columns, is_number_type
from ensemble.exchange.files.file_predictions import name_file_in_errors
from ensemble.exchange.files.npz_archive import NpzArchive
from ensemble.exchange.files.npz_archive import open_prediction_archive as open_archive
from ensemble.exchange.files.npz_predictions import ARRAY_NAMES, OUTPUT_NAMES, look_like_probabilities
from ensemble.exchange.files.parquet_table import ParquetTable, open_parquet_table
from ensemble.exchange.prediction_files import File, open_prediction_file
from ensemble.files.table import (
    CsvLayout,
    Table,
    TableError,
    check_distinct_columns,
    find_csv_layout,
    is_text_type,
    read_csv_table,
)
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader

# The name that is documented first, and others that stand for nothing else.
NAMES = {
    **STATISTIC_NAMES,
    "mean": (*STATISTIC_NAMES["mean"], "prediction", "predictions", "preds", "y_pred"),
    "target": ("target", "targets", "y_true", "y_test", "y", "label", "labels"),
    "samples": ("samples",),
    "quantiles": ("quantiles",),
    "levels": ("levels", "quantile_levels"),
    "member": ("member", "model", "seed"),
    "example": ("example", "example_id", "id", "name", "index"),
    "group": ("group", "groups", "group_id"),
}
SAMPLES_NOTE = "Of samples each member's mean and variance were taken: a normal distribution stands for them."
TURNED_NOTE = "The arrays were (examples, members): they were turned round."
POINTS_NOTE = "Members gave no spread: of how sure they are only their disagreement is known, and no NLL."
CROSSING_NOTE = "Quantiles of a member that crossed were put in order."
# q0.05, quantile_0.05: the level stands in the column's name.
_QUANTILE_COLUMN = re.compile(r"(?:q|quantile)[_ ]?(0?\.\d{1,6})", re.IGNORECASE)
_ORDER_NOTE = "Rows have no example column: each member's were taken in their order."
_CLASSES_REFUSAL = (
    "it holds probabilities or logits of classes, not predicted numbers. Read it with `ensemble "
    "import`, or with ensemble.Predictions.from_files in Python."
)
_NO_ROWS = "it has no rows: give one for each example."
_COLUMNS_HINT = (
    "name the columns member, example, mean, std (or variance) and target, or mean_A, std_A … "
    "for each member A, and target; of quantiles q0.05, q0.5 … in place of mean and std"
)


@dataclass(frozen=True, eq=False)
class NumericPredictions:
    """What a file says of numbers.

    Attributes:
      mixture: what the members predict.
      targets: (N,).
      member_names: M of them.
      notes: what was assumed, in sentences.
      example_names: N of them, or none.
      groups: (N,), the group of each example, from 0; None without a column of groups.
    """

    mixture: NumericEnsemble
    targets: Doubles
    member_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    example_names: tuple[str, ...] = ()
    groups: Groups | None = None


def read_numeric_file(source: File) -> NumericPredictions:
    """The predictions of numbers in an `.npz`, a CSV or a Parquet file, told by how it begins.

    Args:
      source: a path, or what was uploaded, which has a `name`.

    Raises:
      PredictionsError: it cannot be read, or is none; names the file and what to do.
    """
    with name_file_in_errors(Path(source.name).name or "the file"), ExitStack() as held:
        file = open_prediction_file(source, held)
        start = _read_start(file)
        if not start:
            raise PredictionsError("it is empty: save it again.")
        if start.startswith(b"PK"):
            archive = held.enter_context(open_archive(file))
            if _has_class_arrays(archive):
                raise PredictionsError(_CLASSES_REFUSAL)
            read = _parse_arrays(archive)
            if name := _find_name("group", archive.array_names):
                read = add_groups(read, archive.load_array(name), f"`{name:.40}`")
            return read
        return _parse_table(_read_table(file, parquet=start == b"PAR1"))


def is_numeric_file(source: File) -> bool:
    """Return whether a file holds predicted numbers: the one decision of page and command.

    Classes come first: `p_0`, `p_1` … with labels of theirs are classes even if there are columns
    `mean` and `std`, and so is an array (members, examples, classes). Means without a spread count
    only if they are called so, since a column `prediction` may be a class.
    """
    try:
        with ExitStack() as held:
            file = open_prediction_file(source, held)
            start = _read_start(file)
            if start.startswith(b"PK"):
                archive = held.enter_context(open_archive(file))
                return not _has_class_arrays(archive) and _has_number_names(archive.array_names)
            if start == b"PAR1":
                table = held.enter_context(open_parquet_table(file))
                names, texts, labels = _sample_parquet_labels(table)
            else:
                names, texts, labels = _sample_csv_labels(find_csv_layout(file))
            return not has_class_columns(names, texts, labels) and _has_number_names(names)
    except (PredictionsError, TableError, DamagedFileError, OSError):
        return False


def _has_class_arrays(archive: NpzArchive) -> bool:
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


def _sample_csv_labels(layout: CsvLayout) -> tuple[list[str], set[str], set[str]]:
    label = _find_name("target", layout.names)
    cells = layout.list_cells(label) if label else []
    return layout.names, layout.list_text_columns(), set(cells)


def _sample_parquet_labels(table: ParquetTable) -> tuple[list[str], set[str], set[str]]:
    schema = table.layout.schema
    texts = {field.name for field in schema if not is_number_type(field.type)}
    label = _find_name("target", schema.names)
    batch = next(table.read_batches([label]), None) if label else None
    cells = [] if batch is None else batch.column(0).to_pylist()
    return schema.names, texts, {str(cell) for cell in cells if cell is not None}


def _has_number_names(names: Sequence[str]) -> bool:
    plain = {name.strip().casefold() for name in names}
    if not _find_name("target", names):
        return False
    has_spread = any(_match_member_columns(kind, names) for kind in ("variance", "std"))
    if has_spread and _match_member_columns("mean", names):
        return True
    means = any(re.fullmatch(r"(?:means?|mu)(?:[_ ].+|\d+)?", name) for name in plain)
    return means or bool(_match_quantile_columns(names) or "samples" in plain or {"quantiles", "levels"} <= plain)


def _read_start(file: BoundedReader) -> bytes:
    start = file.read(4)
    file.seek(0)
    return start


def build_numeric_predictions(
    mean: Any,
    spread: Any,
    targets: Any,
    *,
    is_variance: bool,
    member_names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    example_names: Sequence[str] = (),
) -> NumericPredictions:
    """Arrays as they came, checked and brought to (M, N).

    Args:
      mean: (M, N), or (N, M) where the targets say so, or (N,) of one member.
      spread: of that shape; standard deviations, or variances; None where there is none.
      targets: (N,), or (N, 1).
      is_variance: which of the two `spread` is.
      member_names: M of them; None for numbers.
      notes: what was assumed before.
      example_names: N of them, or none.

    Raises:
      PredictionsError: they do not fit, or are no finite numbers; says what to do.
    """
    means, true = _convert_to_doubles(mean), _convert_targets(targets)
    spreads = means if spread is None else _convert_to_doubles(spread)
    assumed = list(notes)
    if means.ndim == 3 and means.shape[2] == 1:
        means, spreads = means[..., 0], spreads.reshape(spreads.shape[:2])
    means, spreads = np.atleast_2d(means), np.atleast_2d(spreads)
    if means.shape != spreads.shape or means.ndim != 2:
        raise PredictionsError(
            f"means {means.shape} and spreads {spreads.shape} differ: give both as (members, examples)."
        )
    if means.shape[1] != len(true):
        if means.shape[0] != len(true):
            raise PredictionsError(
                f"there are {len(true):,} targets, and means are {means.shape}: give means as (members, examples)."
            )
        means, spreads = means.T, spreads.T
        assumed.append(TURNED_NOTE)
    names = _check_counts(means.shape[0], means.shape[1], member_names)
    _check_finite(means)
    if spread is None:
        points = PointEnsemble(np.ascontiguousarray(means))
        assumed.append(POINTS_NOTE)
        return NumericPredictions(points, true, names, tuple(assumed), tuple(example_names))
    if not (np.isfinite(spreads).all() and (spreads > 0).all()):
        what = "variance" if is_variance else "standard deviation"
        raise PredictionsError(
            f"a {what} is not above 0: give one above 0 for each, or none at all where members "
            "predict a number without its spread."
        )
    variances = spreads if is_variance else spreads**2
    mixture = NormalMixture(means, variances)
    return NumericPredictions(mixture, true, names, tuple(assumed), tuple(example_names))


def add_groups(read: NumericPredictions, groups: Any, source: str) -> NumericPredictions:
    """Add the group of each example, names or numbers (N,), and the note that says so.

    Raises:
      PredictionsError: there is not one group for each example.
    """
    names = np.asarray(groups)
    if names.shape != read.targets.shape:
        raise PredictionsError(f"{source} is {names.shape} for {len(read.targets):,} examples: give one group each.")
    note = f"Examples with the same {source} belong together: intervals and tests count groups."
    return replace(read, groups=number_groups(names.astype(str)), notes=(*read.notes, note))


def build_quantile_predictions(
    quantiles: Any,
    levels: Any,
    targets: Any,
    *,
    member_names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    example_names: Sequence[str] = (),
) -> NumericPredictions:
    """Quantiles as they came, checked; those of a member that cross are put in order.

    Args:
      quantiles: (M, L, N), or (L, N) of one member.
      levels: (L,), in (0, 1), in any order, none twice; 0.5 among them, or some on both its sides.
      targets: (N,), or (N, 1).
      member_names: M of them; None for numbers.
      notes: what was assumed before.
      example_names: N of them, or none.

    Raises:
      PredictionsError: they do not fit, or are no finite numbers; says what to do.
    """
    values, true = _convert_to_doubles(quantiles), _convert_targets(targets)
    values = values[None] if values.ndim == 2 else values
    at = _convert_to_doubles(levels).reshape(-1)
    if values.ndim != 3 or values.shape[1:] != (len(at), len(true)):
        raise PredictionsError(
            f"quantiles are {values.shape}, with {len(at)} levels and {len(true):,} targets: give "
            "them as (members, levels, examples)."
        )
    names = _check_counts(values.shape[0], values.shape[2], member_names)
    _check_finite(values)
    order, assumed = np.argsort(at), list(notes)
    values = values[:, order]
    if (np.diff(values, axis=1) < 0).any():
        # Source: V. Chernozhukov, I. Fernández-Val and A. Galichon, "Quantile and probability
        # curves without crossing", Econometrica 78 (2010): order never makes them worse.
        values = np.sort(values, axis=1)
        assumed.append(CROSSING_NOTE)
    try:
        ensemble = QuantileEnsemble(at[order], values)
    except ValueError as error:
        raise PredictionsError(
            "levels have to lie between 0 and 1, none twice, with 0.5 among them or some on both "
            "sides of it: give others."
        ) from error
    return NumericPredictions(ensemble, true, names, tuple(assumed), tuple(example_names))


def _convert_targets(targets: Any) -> Doubles:
    true = _convert_to_doubles(targets)
    true = true.reshape(-1) if true.ndim == 2 and 1 in true.shape else true
    if true.ndim != 1 or not len(true):
        raise PredictionsError(f"the targets are {true.shape}: give one number for each example.")
    _check_finite(true)
    return true


def _check_finite(values: Doubles) -> None:
    if not np.isfinite(values).all():
        raise PredictionsError("a prediction or a target is not a finite number: leave its example out.")


def _check_counts(members: int, examples: int, member_names: Sequence[str] | None) -> tuple[str, ...]:
    if members > MOST_MEMBERS or examples > MOST_EXAMPLES:
        raise PredictionsError(
            f"it holds {members:,} members and {examples:,} examples: at most {MOST_MEMBERS:,} and "
            f"{MOST_EXAMPLES:,} are taken; choose among them."
        )
    names = tuple(member_names or (f"member {number}" for number in range(1, members + 1)))
    if len(names) != members:
        raise PredictionsError(f"{len(names)} member names for {members} members.")
    return names


def _convert_to_doubles(values: Any) -> Doubles:
    try:
        return np.ascontiguousarray(np.asarray(values), np.float64)
    except (TypeError, ValueError) as error:
        raise PredictionsError("means, spreads and targets have to be numbers.") from error


def _find_name(kind: str, names: Sequence[str]) -> str | None:
    folded = {name.strip().casefold(): name for name in reversed(names)}
    return next((folded[known] for known in NAMES[kind] if known in folded), None)


def _parse_arrays(archive: NpzArchive) -> NumericPredictions:
    names = archive.array_names
    found = {kind: _find_name(kind, names) for kind in NAMES}
    if not found["target"] or not (found["samples"] or found["mean"] or found["quantiles"]):
        raise PredictionsError(
            f"its arrays are {', '.join(names) or 'none'}: save mean, std (or variance) and "
            "targets, or quantiles, levels and targets, or samples and targets."
        )
    check_free_memory(4 * sum(archive.array_header(name).nbytes for name in names))
    targets = archive.load_array(found["target"])
    member_names = _parse_member_names(archive)
    if found["samples"]:
        samples = _convert_to_doubles(archive.load_array(found["samples"]))
        if samples.ndim != 3 or samples.shape[1] < 2:
            raise PredictionsError(
                f"samples are {samples.shape}: give (members, samples, examples), two samples or more."
            )
        return build_numeric_predictions(
            samples.mean(axis=1),
            samples.var(axis=1, ddof=1),
            targets,
            is_variance=True,
            member_names=member_names,
            notes=[SAMPLES_NOTE],
        )
    if found["quantiles"]:
        if not found["levels"]:
            raise PredictionsError("it has quantiles and no levels: save levels beside them.")
        return build_quantile_predictions(
            archive.load_array(found["quantiles"]),
            archive.load_array(found["levels"]),
            targets,
            member_names=member_names,
        )
    spread = found["variance"] or found["std"]
    return build_numeric_predictions(
        archive.load_array(cast(str, found["mean"])),
        archive.load_array(spread) if spread else None,
        targets,
        is_variance=bool(spread) and spread == found["variance"],
        member_names=member_names,
    )


def _parse_member_names(archive: NpzArchive) -> tuple[str, ...] | None:
    if "member_names" not in archive.array_names:
        return None
    return tuple(str(name) for name in archive.load_array("member_names").reshape(-1))


def _read_table(file: BoundedReader, parquet: bool) -> Table:
    if parquet:
        with open_parquet_table(file) as table:
            names = table.layout.schema.names
            check_distinct_columns(names)
            if has_class_columns(*_sample_parquet_labels(table)):
                raise PredictionsError(_CLASSES_REFUSAL)
            known = [name for kind in NAMES if (name := _find_name(kind, names))]
            wanted = dict.fromkeys([*table.list_flat_columns(), *known])
            return Table(table.read_columns(list(wanted)))
    layout = find_csv_layout(file)
    if has_class_columns(*_sample_csv_labels(layout)):
        raise PredictionsError(_CLASSES_REFUSAL)
    return read_csv_table(file, layout=layout)


def _parse_table(table: Table) -> NumericPredictions:
    names = table.names
    if not table.rows:
        raise PredictionsError(_NO_ROWS)
    if not (target := _find_name("target", names)):
        raise PredictionsError(f"it has no column of targets: {_COLUMNS_HINT}.")
    member = _find_name("member", names)
    quantiles = _match_quantile_columns(names)
    if quantiles or (member and _find_name("mean", names)):
        return _parse_long_table(table, member, target, quantiles)
    return _parse_wide_table(table, target)


def _parse_wide_table(table: Table, target: str) -> NumericPredictions:
    columns = {kind: _match_member_columns(kind, table.names) for kind in ("mean", "variance", "std")}
    spread = "variance" if columns["variance"] else "std"
    members = list(columns["mean"])
    example = _find_name("example", table.names)
    has_spread = bool(columns["variance"] or columns["std"])
    if not members or (has_spread and sorted(columns[spread]) != sorted(members)):
        raise PredictionsError(
            f"its columns {', '.join(table.names[:8])} have no mean and spread for each member: {_COLUMNS_HINT}."
        )
    read = build_numeric_predictions(
        np.stack([_read_numbers(table, columns["mean"][name]) for name in members]),
        np.stack([_read_numbers(table, columns[spread][name]) for name in members]) if has_spread else None,
        _read_numbers(table, target),
        is_variance=spread == "variance",
        member_names=[f"member {name}" if name.isdigit() else name for name in members],
        notes=table.notes,
        example_names=_read_texts(table, example) if example else (),
    )
    return _add_group_column(read, table, slice(None))


def _add_group_column(read: NumericPredictions, table: Table, rows: slice | NDArray[np.intp]) -> NumericPredictions:
    name = _find_name("group", table.names)
    if not name:
        return read
    return add_groups(read, np.asarray(_read_texts(table, name))[rows], f"`{name:.40}`")


def _match_member_columns(kind: str, names: Sequence[str]) -> Mapping[str, str]:
    """The columns of each member by the member's name; "1" of one that has no further word."""
    # Without a sign between, only a number follows: a column "location" is no mean of a member.
    pattern = re.compile(rf"(?:{'|'.join(NAMES[kind])})(?:[_ ](.+)|(\d+))?", re.IGNORECASE)
    matches = {name: pattern.fullmatch(name.strip()) for name in names}
    return {(match[1] or match[2] or "1"): name for name, match in matches.items() if match}


def _match_quantile_columns(names: Sequence[str]) -> Mapping[float, str]:
    matches = {name: _QUANTILE_COLUMN.fullmatch(name.strip()) for name in names}
    return dict(sorted((float(match[1]), name) for name, match in matches.items() if match))


def _parse_long_table(
    table: Table, member: str | None, target: str, quantiles: Mapping[float, str]
) -> NumericPredictions:
    """A row an example and member; without a column of members all are of one."""
    names, notes = table.names, table.notes
    texts = _read_texts(table, member) if member else ["1"] * table.rows
    who = np.asarray(texts, object)
    members = list(dict.fromkeys(who))
    rows = [np.flatnonzero(who == name) for name in members]
    example_names: Sequence[str] = ()
    if example := _find_name("example", names):
        which = np.asarray(_read_texts(table, example), object)
        places = {name: place for place, name in enumerate(which[rows[0]])}
        rows = [each[np.argsort([places.get(name, 0) for name in which[each]], kind="stable")] for each in rows]
        if any(list(which[each]) != list(which[rows[0]]) for each in rows):
            raise PredictionsError("its members do not have the same examples, each once.")
        example_names = list(which[rows[0]])
    elif len(members) > 1:
        notes = [*notes, _ORDER_NOTE]
        if len({len(each) for each in rows}) > 1:
            raise PredictionsError("its members do not have as many rows each: add a column example.")
    true = _read_numbers(table, target)
    if any(not np.array_equal(true[each], true[rows[0]]) for each in rows):
        raise PredictionsError("an example's target is not the same in the rows of all members.")
    member_names = [f"member {name}" if str(name).isdigit() else str(name) for name in members]
    if quantiles:
        columns = [_read_numbers(table, name) for name in quantiles.values()]
        read = build_quantile_predictions(
            np.stack([[column[each] for column in columns] for each in rows]),
            list(quantiles),
            true[rows[0]],
            member_names=member_names,
            notes=notes,
            example_names=example_names,
        )
        return _add_group_column(read, table, rows[0])
    spread = _find_name("variance", names) or _find_name("std", names)
    means = _read_numbers(table, cast(str, _find_name("mean", names)))
    spreads = _read_numbers(table, spread) if spread else None
    read = build_numeric_predictions(
        np.stack([means[each] for each in rows]),
        None if spreads is None else np.stack([spreads[each] for each in rows]),
        true[rows[0]],
        is_variance=bool(spread) and spread == _find_name("variance", names),
        member_names=member_names,
        notes=notes,
        example_names=example_names,
    )
    return _add_group_column(read, table, rows[0])


def _read_texts(table: Table, name: str) -> list[str]:
    """A column as texts; an empty cell is an empty text."""
    return [str(cell or "") for cell in table.cells.column(name).cast(pa.string()).to_pylist()]


def _read_numbers(table: Table, name: str) -> NDArray[np.float64]:
    """A column as numbers; PredictionsError names it where it has others."""
    column = table.cells.column(name)
    if is_text_type(column.type):
        values = table.require_numbers([name])[name].values
    else:
        try:
            values = np.asarray(column.cast(pa.float64()).to_numpy(), np.float64)
        except pa.ArrowException as error:
            raise PredictionsError(f"the column {name} holds what is no number.") from error
    if np.isnan(values).any():
        raise PredictionsError(f"the column {name} has empty cells: fill them or drop the rows.")
    return values
