"""Which class a label is of where classes have names: by its name, or by its position.

Names go before positions, as they do for predictions; here there is no accuracy to tell them apart,
so that what was taken is said, and the other is an option.
"""

from collections.abc import Collection, Mapping, Sequence

from ensemble.datasets.label_meanings import (
    LABEL_READINGS,
    describe_reading_option,
    describe_unfit_reading,
    parse_whole_number,
    write_number,
)
from ensemble.errors import DataError

Label = int | str
_ClassOf = dict[Label, int]  # the class's number of each label


def list_class_readings(labels: Collection[Label], names: Sequence[str]) -> dict[str, _ClassOf]:
    """Every way to read labels as classes, by its name in `LABEL_READINGS`."""
    readings = dict[str, _ClassOf]()
    if named := _match_names(labels, names):
        readings["names"] = named
    numbers = {label: parse_whole_number(str(label)) for label in labels}
    for name, first in ("positions", 0), ("from-1", 1):
        places = {label: number - first for label, number in numbers.items() if number is not None}
        if len(places) == len(labels) and all(0 <= place < len(names) for place in places.values()):
            readings[name] = places
    return readings


def _match_names(labels: Collection[Label], names: Sequence[str]) -> _ClassOf:
    """The class of each label by its name, as it is spelt, else as a number; {} where one has none.

    As a number "01" is 1, unless two names are one then.
    """
    for spell in (str, write_number):
        places = {spell(name): place for place, name in enumerate(names)}
        if len(places) == len(names) and all(spell(str(label)) in places for label in labels):
            return {label: places[spell(str(label))] for label in labels}
    return {}


def choose_class_reading(
    readings: Mapping[str, _ClassOf], names: Sequence[str], where: str, wanted: str = ""
) -> tuple[_ClassOf, list[str]]:
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
        parse_whole_number(str(label)) not in (None, place) for label, place in chosen.items()
    )
    notes = list[str]()
    if wanted or others or renumbered:
        rest = [f"; they could be {LABEL_READINGS[name]} ({describe_reading_option(name)})" for name in others[:1]]
        notes.append(f"Labels were read as {LABEL_READINGS[taken]}{''.join(rest)}.")
    if taken == "positions" and not wanted and 0 not in chosen.values():
        notes.append(
            f"No image is labelled 0 (“{names[0]:.40}”): if labels count from 1, have that read so "
            f"({describe_reading_option('from-1')})."
        )
    return chosen, notes
