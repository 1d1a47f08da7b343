"""The texts of a capsule's header that are no settings: as long as this program makes them."""

from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.own import custom_registry
from ensemble.datasets.own.request import sanitize_text
from ensemble.errors import PredictionsError
from ensemble.exchange.capsule.capsule_format import CapsuleHeader
from ensemble.exchange.capsule.script_element import SAVE_AGAIN
from ensemble.exchange.checks.names import MOST_LETTERS, check_distinct_names

_MAX_LINE_LENGTH = 500  # letters of a line for people, such as where images come from
_MOST_PACKAGES = 200
_MAX_PACKAGE_LENGTH = 100  # letters of a package's name, and of its version


def check_header_texts(header: CapsuleHeader, data: DatasetEntry, member_names: tuple[str, ...]) -> None:
    """Refuse names that cannot be shown or told apart, and texts that no page has room for.

    Raises:
      PredictionsError: there is one; it is named.
    """
    packages = header.packages
    if len(packages) > _MOST_PACKAGES or any(
        len(text) > _MAX_PACKAGE_LENGTH for pair in packages.items() for text in pair
    ):
        raise PredictionsError(f"it lists too many packages, or their names are too long: {SAVE_AGAIN}.")
    _check_header_names("class_names", data.class_names)
    _check_header_names("member_names", member_names)
    for what, text in (("title", data.title), ("noun", data.noun)):
        if not text or len(text) > MOST_LETTERS or sanitize_text(text) != text:
            raise _build_text_error(what)
    for what, text in (("source", data.source), ("fingerprint", data.fingerprint)):
        if len(text) > _MAX_LINE_LENGTH or sanitize_text(text) != text:
            raise _build_text_error(what)
    if not custom_registry.NAME_PATTERN.fullmatch(data.name):  # of those of this program too
        raise _build_text_error("name")


def _build_text_error(what: str) -> PredictionsError:
    return PredictionsError(f"the {what} of its dataset cannot be shown, or is too long: {SAVE_AGAIN}.")


def _check_header_names(field: str, names: tuple[str, ...]) -> None:
    for place, name in enumerate(check_distinct_names(field, names)):
        if sanitize_text(name) != name:
            raise PredictionsError(f"`{field}[{place}]` cannot be shown: {SAVE_AGAIN}.")
