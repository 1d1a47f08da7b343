"""What of the predictions is shown, as it stands in the address: a link shows the same.

The address is the truth: widgets are set from it before they are made, and their callbacks
write to it. A number or word in it that makes no sense counts as not being there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from ensemble.analysis.predictions import ORDERS, SHOWS
from ensemble.ui.shared import address
from ensemble.ui.shared.address import whole


@dataclass(frozen=True)
class View:
    """What to show.

    Attributes:
      epoch: which epoch's predictions; None for the last there is.
      show: "all", "wrong" or "split" (members disagree).
      label: only images of this class; None for every class.
      order: one of `ORDERS`.
      first: how many images, in that order, come before the first on screen.
      digit: the test image that is open; None for none.
    """

    epoch: int | None = None
    show: str = "all"
    label: int | None = None
    order: str = ORDERS[0]
    first: int = 0
    digit: int | None = None


# A field's name in the address, where "class" may stand as it is spoken.
PARAMETERS = {
    "epoch": "epoch",
    "show": "show",
    "label": "class",
    "order": "order",
    "first": "first",
    "digit": "digit",
}


def parse(parameters: Mapping[str, str]) -> View:
    """The view that an address names; what is unknown in it is left out."""
    show, order = parameters.get("show"), parameters.get("order")
    return View(
        epoch=whole(parameters.get("epoch")),
        show=show if show in SHOWS else View.show,
        label=whole(parameters.get("class")),
        order=order if order in ORDERS else View.order,
        first=whole(parameters.get("first")) or 0,
        digit=whole(parameters.get("digit")),
    )


def read() -> View:
    """The view that this tab's address names."""
    return parse(st.query_params)


def put(**changes: int | str | None) -> None:
    """Change fields of the view in the address; a default or None leaves it."""
    for field, value in changes.items():
        address.put(PARAMETERS[field], value, getattr(View, field))
