"""Columns of a table as numbers for a network: standardised, one column a category, gaps filled.

Means, standard deviations and the values of categories are those of the training rows alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import DataError
from ensemble.storage.records.field_checks import NumberRange
from ensemble.tables.column_choice import ColumnChoice, convert_to_texts
from ensemble.tables.raw_table import NUMBER, RawColumn, RawTable

_CURVE_POINTS = 200
_MOST_FEATURES = 4096  # columns that a network sees
_MOST_ENCODED_CELLS = 2**28  # float32, 1 GiB
_Scale = Annotated[float, NumberRange(1e-300, 1e300)]


class NumberColumn(TypedDict):
    """How a column of numbers is encoded.

    Attributes:
      name: the column's.
      mean, scale: what is subtracted, and what the difference is divided by.
      missing: whether a further column says, by 1, where the number is missing.
    """

    name: str
    mean: float
    scale: float
    missing: bool


class CategoryColumn(TypedDict):
    """How a column of categories is encoded.

    Attributes:
      name: the column's.
      values: each has a column that is 1 where the row has that value, else 0.
      missing: whether a further column is 1 where the value is missing.
    """

    name: str
    values: list[str]
    missing: bool


@dataclass(frozen=True)
class TableEncoding:
    """How rows of a table become what a network sees, and its answers numbers of the target.

    Attributes:
      target: the column that is predicted.
      target_mean, target_scale: of the training rows, in the target's unit: what a network learns
        is (target − mean) / scale.
      numbers: columns of numbers; each is standardised, and 0 where it is missing.
      categories: columns of categories; a value that no training row has is 0 in all columns.
      ranges: of each column of numbers the lowest and highest training value, by its name; {} for
        a run of a version that did not store them.
      decimal: "point" or "comma", as the numbers of a CSV were read; "" where that is not known.
    """

    target: str
    target_mean: float
    target_scale: _Scale
    numbers: list[NumberColumn]
    categories: list[CategoryColumn]
    ranges: dict[str, list[float]] = field(default_factory=dict)
    decimal: str = ""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """F names, of what a network sees, in order."""
        names = list[str]()
        for number in self.numbers:
            names += [number["name"]] + ([f"{number['name']} missing"] if number["missing"] else [])
        for category in self.categories:
            names += [f"{category['name']} = {value}" for value in category["values"]]
            names += [f"{category['name']} missing"] if category["missing"] else []
        return tuple(names)

    def encode_features(self, table: RawTable) -> tuple[NDArray[np.float32], list[str]]:
        """What a network sees of all rows, (N, F), and what was assumed.

        Args:
          table: with all columns that were learnt from, by their names.

        Raises:
          DataError: a column is missing, or is no number where one was learnt from.
        """
        features = np.zeros((table.rows, len(self.feature_names)), np.float32)
        place, notes = 0, list[str]()
        for number in self.numbers:
            column = table.find_column(number["name"])
            if column.kind != NUMBER:
                raise DataError(
                    f"The column “{column.name:.60}” of {table.name} is not numbers, as it was "
                    "when the run was trained: correct it."
                )
            values = np.asarray(column.values, np.float64)
            gaps = np.isnan(values)
            standardised = (values - number["mean"]) / number["scale"]
            features[:, place] = np.where(gaps, 0.0, standardised)
            place += 1
            if number["missing"]:
                features[:, place] = gaps
                place += 1
        for category in self.categories:
            texts = convert_to_texts(table.find_column(category["name"]))
            places = {value: place + at for at, value in enumerate(category["values"])}
            spellings = _index_spellings(places)
            place += len(places)
            new = 0
            for row, text in enumerate(texts):
                if text is None:
                    features[row, place if category["missing"] else slice(0)] = 1
                elif (at := places.get(text, spellings.get(_normalize_category(text)))) is not None:
                    features[row, at] = 1
                else:
                    new += 1
            place += category["missing"]
            if new:
                rows = "1 row has" if new == 1 else f"{new:,} rows have"
                notes.append(f"{rows} a value of {category['name']} that no training row has.")
        return features, notes

    def list_gap_notes(self, table: RawTable) -> list[str]:
        """What stands in place of the values that are missing in the rows of a table, in sentences."""
        notes = []
        for number in self.numbers:
            values = np.asarray(table.find_column(number["name"]).values, np.float64)
            if count := int(np.isnan(values).sum()):
                rows = "1 row" if count == 1 else f"{count:,} rows"
                notes.append(f"{number['name']:.60} is missing in {rows}: the training rows' mean is used instead.")
        for category in self.categories:
            if count := sum(text is None for text in convert_to_texts(table.find_column(category["name"]))):
                rows = "1 row" if count == 1 else f"{count:,} rows"
                what = (
                    "that is a category of its own"
                    if category["missing"]
                    else "it counts as none of the training values"
                )
                notes.append(f"{category['name']:.60} is missing in {rows}: {what}.")
        return notes

    def find_extrapolated_rows(self, table: RawTable) -> tuple[NDArray[np.bool_], list[str]]:
        """Find the rows of a table, (N,), with a number outside the training range, and say which.

        Args:
          table: with all columns that were learned from.
        """
        outside, notes = np.zeros(table.rows, bool), list[str]()
        for name, (low, high) in self.ranges.items():
            values = np.asarray(table.find_column(name).values, np.float64)
            beyond = (values < low) | (values > high)
            if count := int(beyond.sum()):
                rows = "1 row has" if count == 1 else f"{count:,} rows have"
                notes.append(
                    f"{rows} a value of {name:.60} outside the training range, {low:.6g} to "
                    f"{high:.6g}: predictions there are extrapolations."
                )
            outside |= beyond
        return outside, notes

    def list_curve_inputs(self) -> NDArray[np.float64]:
        """List the inputs at which a curve is drawn, (P,), in their unit; () unless there is one.

        They cover the training range of the one column, and half of it more on either side.
        """
        name = self.numbers[0]["name"] if len(self.feature_names) == len(self.numbers) == 1 else ""
        if name not in self.ranges:
            return np.empty(0)
        low, high = self.ranges[name]
        return np.linspace(1.5 * low - 0.5 * high, 1.5 * high - 0.5 * low, _CURVE_POINTS)

    def build_curve_features(self) -> NDArray[np.float32]:
        """Encode `list_curve_inputs`, (P, F)."""
        inputs = self.list_curve_inputs()
        if not len(inputs):
            return np.empty((0, len(self.feature_names)), np.float32)
        number = self.numbers[0]
        return np.asarray((inputs - number["mean"]) / number["scale"], np.float32)[:, None]

    def standardise_targets(self, targets: NDArray[np.float64]) -> NDArray[np.float32]:
        """(N,) targets in their unit, as a network learns them."""
        return np.asarray((targets - self.target_mean) / self.target_scale, np.float32)


def _normalize_category(text: str) -> str:
    """A value as it is compared where no training row has it as it is spelled: "True" is "TRUE", "01" is "1"."""
    if text.casefold() in ("true", "false"):
        return text.casefold()
    try:
        return f"{float(text):.15g}"
    except ValueError:
        return text


def _index_spellings(places: Mapping[str, int]) -> dict[str, int]:
    """The place of each value by its normalized form; none of a form that two values have."""
    forms = [_normalize_category(value) for value in places]
    return {form: at for form, at in zip(forms, places.values(), strict=True) if forms.count(form) == 1}


def fit_table_encoding(table: RawTable, choice: ColumnChoice, training_rows: NDArray[np.int64]) -> TableEncoding:
    """The encoding of a table by its training rows.

    Raises:
      DataError: the training rows have one target alone, or there would be too many columns.
    """
    targets = np.asarray(table.find_column(choice.target).values, np.float64)[training_rows]
    scale = float(targets.std())
    if not (scale > 0 and np.isfinite(scale)):
        raise DataError(
            f"The training rows have one value of {choice.target:.60} alone: choose another seed, or give more rows."
        )
    encoding = TableEncoding(
        target=choice.target,
        target_mean=float(targets.mean()),
        target_scale=scale,
        numbers=[_fit_number_column(table.find_column(name), training_rows) for name in choice.numbers],
        categories=[_fit_category_column(table.find_column(name), training_rows) for name in choice.categories],
        ranges=_find_training_ranges(table, choice.numbers, training_rows),
        decimal=table.decimal,
    )
    count = len(encoding.feature_names)
    if count > _MOST_FEATURES or count * table.rows > _MOST_ENCODED_CELLS:
        raise DataError(
            f"{table.name} gives {count:,} columns for {table.rows:,} rows once it is encoded, "
            f"and at most {_MOST_FEATURES:,} columns and {_MOST_ENCODED_CELLS:,} cells are taken: leave columns out."
        )
    return encoding


def _fit_number_column(column: RawColumn, rows: NDArray[np.int64]) -> NumberColumn:
    values = np.asarray(column.values, np.float64)[rows]
    present = values[~np.isnan(values)]
    scale = float(present.std()) if len(present) else 0.0
    return {
        "name": column.name,
        "mean": float(present.mean()) if len(present) else 0.0,
        "scale": scale if scale > 0 and np.isfinite(scale) else 1.0,
        "missing": len(present) < len(values),
    }


def _fit_category_column(column: RawColumn, rows: NDArray[np.int64]) -> CategoryColumn:
    texts = convert_to_texts(column)
    mine = [texts[row] for row in rows]
    return {
        "name": column.name,
        "values": sorted({text for text in mine if text is not None}),
        "missing": any(text is None for text in mine),
    }


def _find_training_ranges(table: RawTable, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, list[float]]:
    columns = {name: np.asarray(table.find_column(name).values, np.float64)[rows] for name in names}
    return {
        name: [float(np.nanmin(values)), float(np.nanmax(values))]
        for name, values in columns.items()
        if not np.isnan(values).all()
    }
