"""What is known of a dataset, as a run keeps it in its config.json.

A run of images that are not built in can be read where these are gone, or others have their name.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from ensemble.datasets.registry import Entry
from ensemble.storage.records.fields import Count, Within, read_as

LEAST_CLASSES, MOST_CLASSES = 2, 1000
Side = Annotated[int, Within(0, 2**16)]


@dataclass(frozen=True)
class Record:
    """What is read of it; the attributes are those of `registry.Entry`."""

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


def as_record(entry: Entry) -> dict[str, Any]:
    """The entry in a form for JSON."""
    return {
        name: list(value) if isinstance(value := getattr(entry, name), tuple) else value
        for name in Record.__dataclass_fields__
    }


def entry_from(values: dict[str, Any]) -> Entry:
    """An entry from `as_record`'s form; names that this version does not know are left out.

    Raises:
      ValueError: a value is not of its kind, or the numbers do not fit together.
    """
    read = read_as(Record, values)
    names = tuple(read.class_names)
    if not LEAST_CLASSES <= len(names) <= MOST_CLASSES:
        raise ValueError(f"{len(names):,} classes are not {LEAST_CLASSES} to {MOST_CLASSES:,}")
    if not read.test_size > 0 or not read.most_frequent <= read.test_size:
        raise ValueError(f"most_frequent is {read.most_frequent} of {read.test_size}")
    shape = tuple(read.image_shape or (28, 28, 1))
    if len(shape) != 3:
        raise ValueError(f"image_shape is {shape}")
    return Entry(**{**vars(read), "class_names": names, "image_shape": shape})
