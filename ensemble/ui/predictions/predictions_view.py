"""What of the predictions is shown, as it stands in the address: a link shows the same.

The address is the truth: widgets are set from it before they are made, and their callbacks
write to it. A number or word in it that makes no sense counts as not being there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ensemble.analysis.predictions import EXAMPLE_ORDERS
from ensemble.ui.shared import address
from ensemble.ui.shared.address import QueryParameter


@dataclass(frozen=True)
class PredictionsView:
    """What to show.

    Attributes:
      epoch: which epoch's predictions; None for the usual one.
      show: "all", "wrong" or "split" (members disagree).
      label: only images of this class; None for every class.
      order: one of `EXAMPLE_ORDERS`.
      first: how many images, in that order, come before the first on screen.
      digit: the test image that is open; None for none.
    """

    epoch: int | None = None
    show: str = "all"
    label: int | None = None
    order: str = EXAMPLE_ORDERS[0]
    first: int = 0
    digit: int | None = None


# The word of each field.
_FIELD_PARAMETERS: dict[str, QueryParameter[Any]] = {
    "epoch": address.EPOCH,
    "show": address.SHOW,
    "label": address.CLASS,
    "order": address.ORDER,
    "first": address.FIRST,
    "digit": address.DIGIT,
}


def parse_predictions_view(parameters: Mapping[str, str]) -> PredictionsView:
    """The view that an address names; what is unknown in it is left out."""
    return PredictionsView(
        **{field: word.parse(parameters.get(word.name)) for field, word in _FIELD_PARAMETERS.items()}
    )


def read_predictions_view() -> PredictionsView:
    return parse_predictions_view(address.get_query_parameters())


def update_predictions_view(**changes: int | str | None) -> None:
    """Change fields of the view in the address; a default or None leaves it."""
    for field, value in changes.items():
        _FIELD_PARAMETERS[field].set_value(value)
