"""Which class a label is of where classes have names: by its name, or by its position.

Names go before positions, as they do for predictions; here there is no accuracy to tell them apart,
so that what was taken is said, and the other is an option.
"""

from collections.abc import Collection, Mapping, Sequence

from ensemble.datasets.label_meanings import (
    LABEL_READINGS,
    describe_reading_option,
    describe_unfit_reading,
)
from ensemble.errors import DataError

Label = int | str
ClassOf = dict[Label, int]  # the class's number of each label


def list_class_readings(labels: Collection[Label], names: Sequence[str]) -> dict[str, ClassOf]:
    """Every way to read labels as classes, by its name in `LABEL_READINGS`.

    Args:
      labels: each different one, whole numbers or text.
      names: of the classes.
    """
    places = {name: place for place, name in enumerate(names)}
    readings = dict[str, ClassOf]()
    if all(str(label) in places for label in labels):
        readings["names"] = {label: places[str(label)] for label in labels}
    numbers = {label: label for label in labels if isinstance(label, int)}
    for name, first in ("positions", 0), ("from-1", 1):
        if len(numbers) == len(labels) and all(
            first <= number < len(names) + first for number in numbers.values()
        ):
            readings[name] = {label: number - first for label, number in numbers.items()}
    return readings


def choose_class_reading(
    readings: Mapping[str, ClassOf], names: Sequence[str], where: str, wanted: str = ""
) -> tuple[ClassOf, list[str]]:
    """The reading that is meant, and what is to be said of it.

    Labels that count from 1 are never taken so unasked.

    Args:
      readings: as of `list_class_readings`, one of names or positions at least, unless one is
        wanted.
      names: of the classes.
      where: what they are of, for the refusal.
      wanted: one of `LABEL_READINGS` that somebody chose; "" for none.

    Raises:
      DataError: the labels cannot be read as is wanted.
    """
    if wanted and wanted not in readings:
        raise DataError(f"{where}: {describe_unfit_reading(wanted, readings)}")
    taken = wanted or next(name for name in LABEL_READINGS if name in readings)
    chosen = readings[taken]
    others = [name for name in readings if name != "from-1" and readings[name] != chosen]
    renumbered = taken == "names" and any(
        str(label).isdecimal() and int(label) != place for label, place in chosen.items()
    )
    notes = list[str]()
    if wanted or others or renumbered:
        rest = [
            f"; they could be {LABEL_READINGS[name]} ({describe_reading_option(name)})"
            for name in others[:1]
        ]
        notes.append(f"Labels were read as {LABEL_READINGS[taken]}{''.join(rest)}.")
    if taken == "positions" and not wanted and 0 not in chosen.values():
        notes.append(
            f"No image is labelled 0 (“{names[0]:.40}”): if labels count from 1, have that read so "
            f"({describe_reading_option('from-1')})."
        )
    return chosen, notes
