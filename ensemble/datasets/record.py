"""What is known of a dataset, as a run keeps it in its config.json.

A run of images that are not built in can be read where these are gone, or others have their name.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from ensemble.datasets.registry import DatasetEntry
from ensemble.storage.records.field_checks import Count, NumberRange, parse_dataclass

_LEAST_CLASSES, _MOST_CLASSES = 2, 2000
Side = Annotated[int, NumberRange(0, 2**16)]


@dataclass(frozen=True)
class _DatasetRecord:
    """What is read of it; the attributes are those of `DatasetEntry`."""

    name: str
    title: str
    test_size: Count
    class_names: list[str]
    train_size: Count = 0
    source: str = ""
    most_frequent: Count = 0
    handwritten: bool = False
    image_shape: list[Side] | None = None
    noun: str = "image"
    own: bool = True
    fingerprint: str = ""
    alone: Count = 0


def serialize_dataset_entry(entry: DatasetEntry) -> dict[str, Any]:
    """The entry in a form for JSON."""
    return {
        name: list(value) if isinstance(value := getattr(entry, name), tuple) else value
        for name in _DatasetRecord.__dataclass_fields__
    }


def parse_dataset_record(values: dict[str, Any]) -> DatasetEntry:
    """An entry from `serialize_dataset_entry`'s form; names that are not known are left out.

    Raises:
      ValueError: a value is not of its kind, or the numbers do not fit together.
    """
    read = parse_dataclass(_DatasetRecord, values)
    names = tuple(read.class_names)
    if not _LEAST_CLASSES <= len(names) <= _MOST_CLASSES:
        raise ValueError(f"{len(names):,} classes are not {_LEAST_CLASSES} to {_MOST_CLASSES:,}")
    if not read.test_size > 0 or not read.most_frequent <= read.test_size:
        raise ValueError(f"most_frequent is {read.most_frequent} of {read.test_size}")
    shape = tuple(read.image_shape or (28, 28, 1))
    if len(shape) != 3:
        raise ValueError(f"image_shape is {shape}")
    return DatasetEntry(**{**vars(read), "class_names": names, "image_shape": shape})
