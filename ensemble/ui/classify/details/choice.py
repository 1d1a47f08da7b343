"""The details of an open mark: each is a module, imported and run when it is chosen."""

from importlib import import_module

from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.shared import address

# The word in the address, and the label on the screen.
DETAILS = {
    "neighbours": "Nearest test images",
    "saliency": "What would change its mind",
    "compare": "Another run or epoch",
    "gate": "Rejection",
}
# The address says "gate", as links of earlier versions do; the module has its name in the code.
MODULES = {"gate": "rejection"}


def show(shown: Shown) -> None:
    """The choice of a detail, and the `show` of its module."""
    key = address.choose(
        address.DETAIL, "Details", DETAILS, next(iter(DETAILS)), label_visibility="collapsed"
    )
    import_module(f"ensemble.ui.classify.details.{MODULES.get(key, key)}").show(shown)
