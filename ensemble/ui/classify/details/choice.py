"""The details of an open mark: each is a module, imported and run when it is chosen."""

from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.shared import address

# The word in the address, and the label on the screen.
DETAILS = {
    "neighbours": "Nearest test images",
    "saliency": "What would change its mind",
    "compare": "Another run or epoch",
    "gate": "Rejection",
}


def show(shown: Shown) -> None:
    """The choice of a detail, and the detail."""
    key = address.choose(
        address.DETAIL, "Details", DETAILS, next(iter(DETAILS)), label_visibility="collapsed"
    )
    SHOW[key](shown)


def show_neighbours(shown: Shown) -> None:
    """The nearest test images."""
    from ensemble.ui.classify.details import neighbours

    neighbours.show(shown)


def show_saliency(shown: Shown) -> None:
    """Where the picture would have to change for another answer."""
    from ensemble.ui.classify.details import saliency

    saliency.show(shown)


def show_comparison(shown: Shown) -> None:
    """What another run or epoch says."""
    from ensemble.ui.classify.details import compare

    compare.show(shown)


def show_rejection(shown: Shown) -> None:
    """Whether it is a digit at all."""
    from ensemble.ui.classify.details import rejection

    rejection.show(shown)


# The address says "gate", as links of earlier versions do.
SHOW = {
    "neighbours": show_neighbours,
    "saliency": show_saliency,
    "compare": show_comparison,
    "gate": show_rejection,
}
