"""Which epoch, member and example each row of a table is of, by the columns that say so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.labels import check_labels_are_classes
from ensemble.exchange.checks.limits import MOST_CLASSES, MOST_EPOCHS, MOST_EXAMPLES, MOST_MEMBERS
from ensemble.exchange.checks.names import sanitize_name
from ensemble.exchange.files.columns import TableColumns
from ensemble.files.columns import ROLE_NAMES

Codes = NDArray[np.int64]
Texts = Mapping[str, pa.ChunkedArray]
# Of how many values a key may be: told before each of them is looked at.
_MAX_KEY_VALUES = {
    "epoch": MOST_EPOCHS,
    "member": MOST_MEMBERS,
    "example": MOST_EXAMPLES,
    "label": MOST_CLASSES,
    "group": MOST_EXAMPLES,
}


@dataclass(frozen=True, eq=False)
class RowKeys:
    """What each of R rows is of.

    Attributes:
      series: (R,), numbers of epoch and member, the members of an epoch after one another.
      examples: (R,), numbers of the examples.
      epoch_names: of the epochs.
      member_names: of the members; ("",) where the table does not say.
      example_names: of the examples; ("",) or none where it does not say.
      used: the columns beside the keys that were used.
      notes: what was assumed.
    """

    series: Codes
    examples: Codes
    epoch_names: tuple[str, ...]
    member_names: tuple[str, ...]
    example_names: tuple[str, ...]
    used: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def encode(cls, columns: TableColumns, keys: Texts, texts: Texts, rows: int) -> Self:
        """Read them from the columns of a table.

        Args:
          columns: of the table.
          keys: the texts of the keys that it has.
          texts: those of all other columns.
          rows: R.

        Raises:
          PredictionsError: a cell is empty, or a key has too many values.
        """
        epochs, epoch_names = encode_key_column(keys.get("epoch"), "epoch", rows)
        members, member_names = encode_key_column(keys.get("member"), "member", rows)
        series = epochs * len(member_names) + members
        parts = _encode_member_parts(columns.member_parts, texts)
        weak, example_column = "", keys.get("example")
        if example_column is None:
            weak = _find_weak_examples(columns.attributes, texts, series, parts)
            example_column = texts.get(weak)
        examples, example_names = encode_key_column(example_column, "example", rows)
        labels = keys.get("label")
        label_codes = None if labels is None else encode_key_column(labels, "label", rows)[0]
        used = []
        for part, (codes, values) in parts.items():
            number = _compress_codes(series, codes)
            if example_column is None:
                repeated = _has_same_examples(number, label_codes, "fold" not in part.lower())
            else:
                repeated = _has_duplicates(series, examples)
            if repeated:
                used.append(part)
                members, member_names = _join_names(members, member_names, codes, part, values)
                series = epochs * len(member_names) + members
        if example_column is None:
            examples, example_names = _count_previous_rows(series), ()
        listing = " and ".join(f"“{part:.40}”" for part in used)
        return cls(
            series=series,
            examples=examples,
            epoch_names=epoch_names,
            member_names=member_names,
            example_names=example_names,
            used=(*used, weak) if weak else tuple(used),
            notes=(f"Members were told apart by {listing}.",) if used else (),
        )


def encode_texts(column: pa.ChunkedArray) -> pa.DictionaryArray:
    encoded = column.dictionary_encode().combine_chunks()
    return encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded


def _compress_codes(first: Codes, second: Codes) -> Codes:
    pairs = first * (int(second.max(initial=0)) + 1) + second
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def encode_key_column(column: pa.ChunkedArray | None, name: str, rows: int) -> tuple[Codes, tuple[str, ...]]:
    """Each row's number among the values of a column, and the values.

    Numbers are in their order, but names of examples as they come unless they are 0, 1 … or 1, 2 …;
    text is as it comes.

    Raises:
      PredictionsError: a cell is empty, or there are too many values.
    """
    if column is None:
        return np.zeros(rows, np.int64), ("",)
    encoded = encode_texts(column)
    if (many := len(encoded.dictionary)) > _MAX_KEY_VALUES[name]:
        if name == "label":
            check_labels_are_classes(np.array(encoded.dictionary[:MOST_CLASSES].to_pylist()))
        raise PredictionsError(
            f"its column of {name}s has {many:,} different values, but at most "
            f"{_MAX_KEY_VALUES[name]:,} are accepted: check that it is what its name says."
        )
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = [sanitize_name(value) for value in encoded.dictionary.to_pylist()]
    if encoded.null_count or "" in values:
        blank = [place for place, value in enumerate(values) if not value]
        empty = (codes < 0) | np.isin(codes, blank)
        raise PredictionsError(f"its row {int(np.argmax(empty)) + 1} has no {name}: give it one.")
    numbers = [number for value in values if (number := _parse_whole_number(value)) is not None]
    keys: list[str] = values
    if len(numbers) == len(values):
        keys = [str(whole) for whole in numbers]
        ordered = sorted(set(numbers))
        counted = ordered[0] in (0, 1) and ordered[-1] - ordered[0] + 1 == len(ordered)
        in_order = name != "example" or counted
        distinct_keys = list(map(str, ordered)) if in_order else list(dict.fromkeys(keys))
    else:
        distinct_keys = list(dict.fromkeys(values))
    place = {key: number for number, key in enumerate(distinct_keys)}
    return np.array([place[key] for key in keys], np.int64)[codes], tuple(distinct_keys)


def _parse_whole_number(text: str) -> int | None:
    """A whole number, also as "3.0"; None for other text."""
    whole = text.removesuffix(".0").removeprefix("-")
    is_whole = whole.isascii() and whole.isdigit() and len(whole) < 18
    return int(text.removesuffix(".0")) if is_whole else None


def _count_previous_rows(series: Codes) -> Codes:
    order = np.argsort(series, kind="stable")
    starts = np.searchsorted(series[order], series[order])
    counts = np.empty(len(series), np.int64)
    counts[order] = np.arange(len(series)) - starts
    return counts


def _encode_member_parts(parts: Sequence[str], texts: Texts) -> dict[str, tuple[Codes, tuple[str, ...]]]:
    """Of each column that has 2 to 256 values in full its codes and values."""
    encoded = {}
    for part in parts:
        count = len(encode_texts(texts[part]).dictionary)
        if texts[part].null_count == 0 and 2 <= count <= MOST_MEMBERS:
            encoded[part] = encode_key_column(texts[part], "member", len(texts[part]))
    return encoded


def _find_weak_examples(
    attributes: Sequence[str], texts: Texts, series: Codes, parts: Mapping[str, tuple[Codes, tuple[str, ...]]]
) -> str:
    """A column that names each example once in every member; "" where there is none."""
    every = series
    for codes, _ in parts.values():
        every = _compress_codes(every, codes)
    for name in ROLE_NAMES["weak example"]:
        for column in attributes:
            if column.strip().lower() != name or texts[column].null_count:
                continue
            encoded = encode_texts(texts[column])
            codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            count = len(encoded.dictionary)
            if 1 < count <= MOST_EXAMPLES and any(
                count * len(np.unique(which)) == len(codes) and not _has_duplicates(which, codes)
                for which in (series, every)
            ):
                return column
    return ""


def _has_duplicates(series: Codes, examples: Codes) -> bool:
    pairs = series * (int(examples.max()) + 1) + examples
    return len(np.unique(pairs)) < len(pairs)


def _has_same_examples(series: Codes, labels: Codes | None, unlabelled: bool) -> bool:
    """Whether all series are as long, with the same labels in the same order.

    Args:
      series: (R,), of each row.
      labels: (R,), numbers of labels; None where there are none.
      unlabelled: what is answered where only the lengths are known.
    """
    counts = np.bincount(series)
    if len(set(counts.tolist())) > 1:
        return False
    if labels is None:
        return unlabelled
    each = labels[np.argsort(series, kind="stable")].reshape(len(counts), -1)
    return bool((each == each[0]).all())


def _join_names(
    members: Codes, names: tuple[str, ...], codes: Codes, part: str, values: tuple[str, ...]
) -> tuple[Codes, tuple[str, ...]]:
    """Members told apart by one column more, with names such as "forest, seed 3"."""
    pairs = members * len(values) + codes
    there, joined = np.unique(pairs, return_inverse=True)
    texts = []
    for pair in there.tolist():
        first, value = names[pair // len(values)], values[pair % len(values)]
        word = f"{part.strip()} {value}"
        texts.append(f"{first}, {word}" if first else word)
    return joined.reshape(-1), tuple(texts)
