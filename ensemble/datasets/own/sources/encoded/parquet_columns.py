"""Which columns of a Parquet file are pictures, classes and groups: by name, type and metadata."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.picture_table import normalize_column_name
from ensemble.datasets.own.sources.folders.split_names import normalize_name
from ensemble.errors import DataError
from ensemble.files.columns import ROLE_NAMES, ROW_NUMBERS

_PICTURE_COLUMNS = ("image", "img", "picture", "bytes", "jpg", "png", "pixels", "file")

_MAX_METADATA_BYTES = 2**24
NEEDED = (
    "a column of encoded pictures (image, with bytes) and one of classes (label) are needed, as Hugging Face keeps them"
)


@dataclass(frozen=True)
class _ShardColumns:
    """Which columns of a shard are what.

    Attributes:
      pictures: the column of pictures.
      is_struct: whether its bytes are a field of it.
      labels: the column of classes.
      names: of the classes by number; None where the file does not tell.
      groups: the column of groups; "" without one.
      others: columns that are none of these and can be of splits.
      unused: columns that are not read.
    """

    pictures: str
    is_struct: bool
    labels: str
    names: tuple[str, ...] | None
    groups: str
    others: tuple[str, ...] = field(compare=False)
    unused: tuple[str, ...] = field(compare=False)


def find_shard_columns(path: Path, schema: pa.Schema) -> _ShardColumns:
    """Which columns are the pictures, classes and groups.

    Raises:
      DataError: there are none, or several that may be the classes.
    """
    names = {normalize_column_name(field.name): field for field in schema}
    features = _parse_features(schema)
    pictures = [field for field in schema if _holds_encoded_pictures(field.type)]
    pictures.sort(key=lambda field: _find_rank(field.name, _PICTURE_COLUMNS))
    if not pictures:
        raise DataError(f"{path.name} has no column of encoded pictures: {NEEDED}.")
    named = [names[name] for name in ROLE_NAMES["class"] if name in names]
    tagged = [names[normalize_column_name(name)] for name in features if name in schema.names]
    tagged.sort(key=lambda field: -len(features[field.name]))
    candidates = [field for field in named if field in tagged] + named + tagged
    candidates = [field for field in candidates if _is_class_type(field.type)]
    if not candidates:
        listing = format_name_list(schema.names)
        raise DataError(f"{path.name} has the columns {listing}, none of which is called label: {NEEDED}.")
    labels = candidates[0].name
    groups = next((names[name].name for name in ROLE_NAMES["picture group"] if name in names), "")
    rest = [column for column in schema if column.name not in (pictures[0].name, labels, groups)]
    splits = [
        name for role in ("picture split", "training flag", "validation flag", "test flag") for name in ROLE_NAMES[role]
    ]
    others = [each.name for each in rest if normalize_column_name(each.name) in splits and _is_class_type(each.type)]
    return _ShardColumns(
        pictures=pictures[0].name,
        is_struct=pa.types.is_struct(pictures[0].type),
        labels=labels,
        names=features.get(labels),
        groups=groups,
        others=tuple(others),
        unused=tuple(each.name for each in rest if each.name not in (*others, *ROW_NUMBERS)),
    )


def _find_rank(name: str, known: Sequence[str]) -> int:
    """The place of a column's name among those that are known; behind them where it is none."""
    plain = normalize_column_name(name)
    return known.index(plain) if plain in known else len(known)


def _holds_encoded_pictures(kind: pa.DataType) -> bool:
    """Whether a column is of bytes, or of structs with them."""
    if pa.types.is_struct(kind):
        return any(field.name == "bytes" and _is_bytes_type(field.type) for field in kind)
    return _is_bytes_type(kind)


def _is_bytes_type(kind: pa.DataType) -> bool:
    """Whether a type is of bytes."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_class_type(kind: pa.DataType) -> bool:
    """Whether a column can hold classes: numbers, text, or true and false."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    return any(test(kind) for test in tests)


def _parse_features(schema: pa.Schema) -> dict[str, tuple[str, ...]]:
    """The names of the classes of each column that the metadata of Hugging Face tells.

    Source: the `ClassLabel` feature of the library datasets, in the schema's key `huggingface`.
    """
    raw = (schema.metadata or {}).get(b"huggingface", b"")
    if len(raw) > _MAX_METADATA_BYTES:
        return {}
    try:
        features = json.loads(raw)["info"]["features"]
        found = {
            name: tuple(normalize_name(" ".join(str(each).split())) for each in feature["names"])
            for name, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: names for name, names in found.items() if len(set(names)) == len(names)}
