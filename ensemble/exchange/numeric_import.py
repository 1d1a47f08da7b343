"""From a file of predicted numbers to a run that Numbers and `ensemble inspect` open."""

from ensemble.datasets.own.request import sanitize_text
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.names import MOST_LETTERS, check_distinct_names, sanitize_name
from ensemble.exchange.numeric_files import NumericPredictions
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.runs.store import Run

MAX_UNIT_LENGTH = 20
_MAX_SOURCE_LENGTH = 200


def import_numbers(
    numbers: NumericPredictions, name: str = "", source: str = "", target_name: str = "", unit: str = ""
) -> Run:
    """A new run, state `imported`, of what was read.

    Args:
      numbers: from `read_numeric_file`.
      name: for people, at most 80 characters; "" for none.
      source: where it comes from, for people: the name of the file. What was assumed of it stands
        below it in the run's note.
      target_name: what is predicted: "price"; "" where nobody says.
      unit: of the targets: "m/s"; "" where nobody says.

    Raises:
      RunError: the name is too long, or the folder of runs cannot be written.
      PredictionsError: a member has no name, or that of another; or what is predicted, or the
        unit, is too long.
    """
    member_names = check_distinct_names("member_names", [sanitize_name(member) for member in numbers.member_names])
    source = sanitize_text(source)[:_MAX_SOURCE_LENGTH]
    parts = [f"Imported from {source}."] if source else []
    return create_imported_numeric_run(
        numbers.mixture,
        numbers.targets,
        name=name,
        note="\n\n".join([*parts, *numbers.notes]),
        target_name=_check_word("what is predicted", target_name, MOST_LETTERS),
        unit=_check_word("the unit", unit, MAX_UNIT_LENGTH),
        member_names=member_names,
        example_names=numbers.example_names,
        groups=numbers.groups,
    )


def _check_word(what: str, text: str, most: int) -> str:
    text = sanitize_text(text)
    if len(text) > most:
        raise PredictionsError(f"{what} has {len(text):,} characters: at most {most} are taken.")
    return text
