"""What labels that are numbers can mean, called the same in predictions and in images."""

from collections.abc import Collection, Mapping, Sequence

# What `--labels` takes, each with what it makes of a label.
LABEL_READINGS = {
    "names": "names of classes",
    "positions": "positions of classes from 0",
    "from-1": "positions of classes from 1",
}


def describe_unfit_reading(wanted: str, readings: Collection[str]) -> str:
    """That labels cannot be read as somebody chose, and how they can: a clause.

    Args:
      wanted: one of `LABEL_READINGS`.
      readings: those that fit, at least one.
    """
    fit = " or ".join(f"`{name}`" for name in readings)
    return (
        f"the labels cannot be read as {LABEL_READINGS[wanted]} (`--labels {wanted}`): at "
        f"least one is none, so choose {fit}."
    )


def describe_reading_option(name: str) -> str:
    """How a reading is asked for on the command line and in Python."""
    return f'`--labels {name}`, in Python `labels_as="{name}"`'


def parse_whole_number(text: str) -> int | None:
    """The number that a label is, written with zeros around it or not; None where it is none."""
    digits = text.removesuffix(".0").removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 18):
        return None
    return int(text.removesuffix(".0"))


def write_number(text: str) -> str:
    """A whole number without zeros around it; other text as it is."""
    number = parse_whole_number(text)
    return text if number is None else str(number)


def index_class_names(class_names: Sequence[str]) -> dict[str, int]:
    """The class of each name from 0, also by the name as a number, for `find_class_by_name`."""
    spelled = {name: place for place, name in enumerate(class_names)}
    return {write_number(name): place for name, place in spelled.items()} | spelled


def find_class_by_name(cell: str, classes: Mapping[str, int]) -> int | None:
    """The class that a cell of a table names, from 0; None if it names none.

    A name counts as it is spelled, before a formula was defused with an apostrophe, and as a number:
    a spreadsheet writes 7 for "07".

    Args:
      cell: of the table.
      classes: of `index_class_names`.
    """
    names = (cell, cell.removeprefix("'"), write_number(cell))
    return next((classes[name] for name in names if name in classes), None)
