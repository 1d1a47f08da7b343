"""Files of predicted numbers: each member's mean and spread for each example, and the targets.

An `.npz` holds arrays (M, N), a table a row an example and member, or a row an example with
columns for each member. Names decide; what was assumed is noted.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, number_groups
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.config import CLASSIFICATION
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import MOST_EXAMPLES, MOST_MEMBERS, check_free_memory
from ensemble.exchange.file_task import (
    File,
    build_task_error,
    has_class_arrays,
    open_prediction_file,
    read_start,
    sample_csv_labels,
    sample_parquet_labels,
)
from ensemble.exchange.files.columns import has_class_columns
from ensemble.exchange.files.file_predictions import name_file_in_errors
from ensemble.exchange.files.npz_archive import NpzArchive
from ensemble.exchange.files.npz_archive import open_prediction_archive as open_archive
from ensemble.exchange.files.parquet_table import open_parquet_table
from ensemble.files.columns import NumberColumns, is_ensemble_name, list_unused_notes, parse_number_columns
from ensemble.files.numbers import NumberRules
from ensemble.files.table import (
    Table,
    check_cell_count,
    check_distinct_columns,
    find_csv_layout,
    is_text_type,
    read_csv_table,
)
from ensemble.storage.arrays.npy import BoundedReader

SAMPLES_NOTE = "Of samples each member's mean and variance were taken: a normal distribution stands for them."
TURNED_NOTE = "The arrays were (examples, members): they were turned round."
POINTS_NOTE = "Members gave no spread: of how sure they are only their disagreement is known, and no NLL."
CROSSING_NOTE = "Quantiles of a member that crossed were put in order."
_ORDER_NOTE = "Rows have no example column: each member's were taken in their order."
_NOT_ABOVE_0 = (
    "a standard deviation or variance is not above 0: give one above 0 for each, or none at all where members "
    "predict a number without its spread."
)
_SAME_SPREAD = 0.01  # relative difference of two columns that give the same spread, rounded
_TO_VARIANCE: dict[str, Callable[[Doubles], Doubles]] = {
    "std": np.square,
    "variance": np.asarray,
    "log variance": np.exp,
    "log std": lambda values: np.exp(2 * values),
}
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


def read_numeric_file(source: File, decimal: str = "") -> NumericPredictions:
    """The predictions of numbers in an `.npz`, a CSV or a Parquet file, told by how it begins.

    Args:
      source: a path, or what was uploaded, which has a `name`.
      decimal: "point" or "comma", where numbers of a table could be read in two ways; "" for what its cells say.

    Raises:
      ConfigError: `decimal` is another word.
      DecimalSignError: numbers can be read in two ways.
      PredictionsError: it cannot be read, or is none; names the file and what to do.
    """
    with name_file_in_errors(Path(source.name).name or "the file"), ExitStack() as held:
        file = open_prediction_file(source, held)
        start = read_start(file)
        if start.startswith(b"PK"):
            archive = held.enter_context(open_archive(file))
            if not has_class_arrays(archive):
                return _parse_arrays(archive)
        elif table := _read_table(file, start == b"PAR1", NumberRules(decimal)):
            return _parse_table(table)
    raise build_task_error(source, CLASSIFICATION)


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
    if means.ndim == 3 and np.allclose(means.sum(axis=2), 1.0, atol=0.05):
        raise PredictionsError(
            f"means are {means.shape}, and sum to 1 over the last axis as probabilities of classes do: give them to "
            "ensemble.Predictions.from_arrays(probabilities, labels)."
        )
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
        raise PredictionsError(_NOT_ABOVE_0)
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


def _parse_arrays(archive: NpzArchive) -> NumericPredictions:
    names = archive.array_names
    columns = parse_number_columns(names)
    keys = columns.keys
    if "target" not in keys or not ("samples" in keys or "quantiles" in keys or columns.means):
        raise PredictionsError(
            f"its arrays are {', '.join(names) or 'none'}: save mean, std (or variance) and "
            "targets, or quantiles, levels and targets, or samples and targets."
        )
    check_free_memory(4 * sum(archive.array_header(name).nbytes for name in names))
    targets = archive.load_array(keys["target"])
    member_names = _parse_member_names(archive)
    used = {*keys.values(), "member_names"}
    if "samples" in keys:
        samples = _convert_to_doubles(archive.load_array(keys["samples"]))
        if samples.ndim != 3 or samples.shape[1] < 2:
            raise PredictionsError(
                f"samples are {samples.shape}: give (members, samples, examples), two samples or more."
            )
        means, variances = samples.mean(axis=1), samples.var(axis=1, ddof=1)
        read = build_numeric_predictions(
            means, variances, targets, is_variance=True, member_names=member_names, notes=[SAMPLES_NOTE]
        )
    elif "quantiles" in keys:
        if "levels" not in keys:
            raise PredictionsError("it has quantiles and no levels: save levels next to them.")
        read = build_quantile_predictions(
            archive.load_array(keys["quantiles"]),
            archive.load_array(keys["levels"]),
            targets,
            member_names=member_names,
        )
    else:
        member, mean = next(iter(columns.means.items()))
        found = columns.find_spreads(member)
        used |= {mean, *found.values()}
        spread = _combine_spreads(
            {name: _convert_to_doubles(archive.load_array(name)) for name in found.values()}, found
        )
        read = build_numeric_predictions(
            archive.load_array(mean), spread, targets, is_variance=True, member_names=member_names
        )
    unused = list_unused_notes([name for name in names if name not in used], "array")
    read = replace(read, notes=(*read.notes, *unused))
    if name := keys.get("group"):
        read = add_groups(read, archive.load_array(name), f"`{name:.40}`")
    return read


def _combine_spreads(values: Mapping[str, Doubles], columns: Mapping[str, str]) -> Doubles | None:
    """The variance that columns of spread give, which have to agree; None without one.

    Args:
      values: of each column, by its name, of any one shape.
      columns: the column's name by what it is: "std", "variance", "log variance" or "log std".
    """
    with np.errstate(over="ignore"):
        variances = {name: _TO_VARIANCE[role](values[name]) for role, name in columns.items()}
    if any(role in columns and (values[columns[role]] < 0).any() for role in ("std", "variance")):
        raise PredictionsError(_NOT_ABOVE_0)
    if not variances:
        return None
    (first, variance), *others = variances.items()
    for name, other in others:
        if variance.shape != other.shape or not np.allclose(variance, other, rtol=_SAME_SPREAD, atol=0.0):
            raise PredictionsError(f"“{first:.60}” and “{name:.60}” contradict each other: keep one of them.")
    return variance


def _parse_member_names(archive: NpzArchive) -> tuple[str, ...] | None:
    if "member_names" not in archive.array_names:
        return None
    return tuple(str(name) for name in archive.load_array("member_names").reshape(-1))


def _read_table(file: BoundedReader, parquet: bool, rules: NumberRules) -> Table | None:
    """The cells; None of a table of classes."""
    if parquet:
        with open_parquet_table(file) as table:
            names = table.layout.schema.names
            check_distinct_columns(names)
            if has_class_columns(*sample_parquet_labels(table)):
                return None
            flat = table.list_flat_columns()
            check_cell_count(table.layout.rows, len(flat))
            return Table(table.read_columns(flat), rules=rules)
    layout = find_csv_layout(file)
    if has_class_columns(*sample_csv_labels(layout)):
        return None
    return read_csv_table(file, rules=rules, layout=layout)


def _parse_table(table: Table) -> NumericPredictions:
    if not table.rows:
        raise PredictionsError(_NO_ROWS)
    columns = parse_number_columns(table.names)
    if "target" not in columns.keys:
        raise PredictionsError(f"it has no column of targets: {_COLUMNS_HINT}.")
    if "split" in columns.keys and len(splits := set(_read_texts(table, columns.keys["split"]))) > 1:
        first, second = sorted(splits)[:2]
        raise PredictionsError(
            f"its rows belong to {len(splits)} splits (“{first:.40}”, “{second:.40}”): give the rows of one."
        )
    notes, is_long = list(table.notes), "member" in columns.keys
    if columns.ensemble:
        listing = ", ".join(f"“{name:.40}”" for name in columns.ensemble)
        notes.append(f"The ensemble's own prediction is not a member: {listing} left out.")
    members = [""] if is_long or columns.quantiles or columns.samples else list(columns.means)
    spreads = [columns.find_spreads(member) for member in members]
    spread_of = {member for by_member in columns.spreads.values() for member in by_member}
    has_means = bool(members) and set(members) <= set(columns.means) and spread_of <= set(columns.means)
    if not (columns.quantiles or columns.samples) and not (has_means and len({tuple(each) for each in spreads}) == 1):
        raise PredictionsError(
            f"its columns {', '.join(f'{name:.40}' for name in table.names[:8])} have no mean and spread for each "
            f"member: {_COLUMNS_HINT}."
        )
    numbers = [*columns.quantiles.values(), *columns.samples]
    if not numbers:
        numbers = [columns.means[member] for member in members] + [name for each in spreads for name in each.values()]
    target = columns.keys["target"]
    values = {name: _read_numbers(table, name) for name in (target, *numbers)}
    notes += table.list_number_notes([name for name in values if is_text_type(table.cells.column(name).type)])
    names, rows, examples, more = _order_rows(table, columns, values[target], members)
    notes += more
    true = values[target][rows[0]]
    common: dict[str, Any] = {"member_names": names, "example_names": examples}
    if columns.quantiles:
        stacked = np.stack([[values[name][each] for name in columns.quantiles.values()] for each in rows])
        read = build_quantile_predictions(stacked, list(columns.quantiles), true, notes=notes, **common)
    elif columns.samples:
        drawn = np.stack([[values[name][each] for name in columns.samples] for each in rows])
        notes.append(SAMPLES_NOTE)
        means, variances = drawn.mean(axis=1), drawn.var(axis=1, ddof=1)
        read = build_numeric_predictions(means, variances, true, is_variance=True, notes=notes, **common)
    else:
        places = members if not is_long else [""] * len(rows)
        means = np.stack([values[columns.means[m]][each] for m, each in zip(places, rows, strict=True)])
        variances = _combine_member_spreads(values, columns, places, rows)
        read = build_numeric_predictions(means, variances, true, is_variance=True, notes=notes, **common)
    used = {
        *numbers,
        target,
        *columns.ensemble,
        *(columns.keys[key] for key in ("member", "group") if key in columns.keys),
    }
    used |= {columns.keys[key] for key in ("example", "weak example") if key in columns.keys and examples}
    more = list_unused_notes([name for name in table.names if name not in used])
    if columns.bounds and not columns.quantiles:
        listing = " and ".join(f"“{name:.40}”" for name in columns.bounds[:2])
        more.append(
            f"The level of the bounds {listing} is not known: call them q0.05 and q0.95 if they are such quantiles."
        )
    read = replace(read, notes=(*read.notes, *more))
    if not (group := columns.keys.get("group")):
        return read
    return add_groups(read, np.asarray(_read_texts(table, group))[rows[0]], f"`{group:.40}`")


def _combine_member_spreads(
    values: Mapping[str, Doubles], columns: NumberColumns, members: Sequence[str], rows: Sequence[NDArray[np.intp]]
) -> Doubles | None:
    """The variances (M, N) of the members; None where they give no spread."""
    each = []
    for member, places in zip(members, rows, strict=True):
        found = columns.find_spreads(member)
        each.append(_combine_spreads({name: values[name][places] for name in found.values()}, found))
    given = [variance for variance in each if variance is not None]
    return np.stack(given) if given else None


def _order_rows(
    table: Table, columns: NumberColumns, targets: Doubles, members: Sequence[str]
) -> tuple[list[str], list[NDArray[np.intp]], Sequence[str], list[str]]:
    """The members' names, the rows of each in the order of the examples, the examples' names, and what was assumed."""
    example = columns.keys.get("example") or columns.keys.get("weak example")
    which = np.asarray(_read_texts(table, example), object) if example else None
    if "member" not in columns.keys:
        every = np.arange(table.rows)
        names = [f"member {name}" if name.isdigit() else name or "member 1" for name in members]
        if which is not None and _find_repeated(which) is not None:
            if "example" in columns.keys:
                raise PredictionsError(_describe_repeated_example(which, ""))
            which = None
        return names, [every] * max(1, len(members)), () if which is None else list(which), []
    who = np.asarray(_read_texts(table, columns.keys["member"]), object)
    labels, notes = list(dict.fromkeys(who)), list[str]()
    if own := [name for name in labels if is_ensemble_name(name)] if len(labels) > 1 else []:
        labels = [name for name in labels if name not in own]
        notes.append(f"The ensemble's own prediction is not a member: rows of “{own[0]:.40}” are left out.")
    if len(labels) > MOST_MEMBERS:
        raise PredictionsError(
            f"it holds {len(labels):,} members, and at most {MOST_MEMBERS:,} are taken: choose among them."
        )
    codes = {name: code for code, name in enumerate(labels)}
    member_of = np.array([codes.get(name, len(labels)) for name in who])
    order = np.argsort(member_of, kind="stable")
    rows = np.split(order, np.searchsorted(member_of[order], np.arange(1, len(labels) + 1)))[: len(labels)]
    examples: Sequence[str] = ()
    if which is not None:
        for name, each in zip(labels, rows, strict=True):
            if _find_repeated(which[each]) is not None:
                raise PredictionsError(_describe_repeated_example(which[each], name))
        places = {name: place for place, name in enumerate(which[rows[0]])}
        rows = [each[np.argsort([places.get(name, 0) for name in which[each]], kind="stable")] for each in rows]
        if any(list(which[each]) != list(which[rows[0]]) for each in rows):
            raise PredictionsError("its members do not have the same examples, each once.")
        examples = list(which[rows[0]])
    elif len(labels) > 1:
        notes.append(_ORDER_NOTE)
        if len({len(each) for each in rows}) > 1:
            raise PredictionsError("its members do not have as many rows each: add a column example.")
    if any(not np.array_equal(targets[each], targets[rows[0]]) for each in rows):
        raise PredictionsError("an example's target is not the same in the rows of all members.")
    names = [f"member {name}" if str(name).isdigit() else str(name) for name in labels]
    return names, rows, examples, notes


def _find_repeated(names: NDArray[np.object_]) -> str | None:
    """A name that is there twice; None if none is."""
    return next((str(name) for name, count in Counter(names).items() if count > 1), None)


def _describe_repeated_example(names: NDArray[np.object_], member: str) -> str:
    of_member = f" of the member “{member:.40}”" if member else ""
    return f"it has two rows of the example “{_find_repeated(names):.40}”{of_member}: keep one of them."


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
