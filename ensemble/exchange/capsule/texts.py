"""The texts of a capsule's header that are no settings: as long as this program makes them."""

from ensemble.datasets.entry import Entry
from ensemble.datasets.own import entries
from ensemble.datasets.own.request import words
from ensemble.errors import PredictionsError
from ensemble.exchange.capsule.element import SAVE_AGAIN
from ensemble.exchange.capsule.form import Header
from ensemble.exchange.checks.names import MOST_LETTERS, checked

MOST_LINE = 500  # letters of a line for people, such as where images come from
MOST_PACKAGES = 200
MOST_PACKAGE = 100  # letters of a package's name, and of its version


def check_texts(header: Header, data: Entry, member_names: tuple[str, ...]) -> None:
    """Refuse names that cannot be shown or told apart, and texts that no page has room for.

    Raises:
      PredictionsError: there is one; it is named.
    """
    packages = header.packages
    if len(packages) > MOST_PACKAGES or any(
        len(text) > MOST_PACKAGE for pair in packages.items() for text in pair
    ):
        raise PredictionsError(f"its packages are too many, or their names too long: {SAVE_AGAIN}.")
    _names("class_names", data.class_names)
    _names("member_names", member_names)
    for what, text in (("title", data.title), ("noun", data.noun)):
        if not text or len(text) > MOST_LETTERS or words(text) != text:
            raise _odd(what)
    for what, text in (("source", data.source), ("fingerprint", data.fingerprint)):
        if len(text) > MOST_LINE or words(text) != text:
            raise _odd(what)
    if not entries.NAME.fullmatch(data.name):  # of those of this program too
        raise _odd("name")


def _odd(what: str) -> PredictionsError:
    return PredictionsError(
        f"the {what} of its dataset is none that can be shown, or too long: {SAVE_AGAIN}."
    )


def _names(field: str, names: tuple[str, ...]) -> None:
    for place, name in enumerate(checked(field, names)):
        if words(name) != name:
            raise PredictionsError(f"`{field}[{place}]` cannot be shown: {SAVE_AGAIN}.")
