"""The details of an open mark: each is a module, imported and run when it is chosen."""

from importlib import import_module

from ensemble.ui import address
from ensemble.ui.classify_shown import Shown

# The word in the address, which is how the module's name ends, and the label on the screen.
DETAILS = {
    "neighbours": "Nearest test digits",
    "saliency": "What would change its mind",
    "compare": "Another run or epoch",
    "gate": "When it declines",
}


def show(shown: Shown) -> None:
    """The choice of a detail, and the `show` of the module `classify_<key>`."""
    key = address.choose(
        "detail", "Details", DETAILS, next(iter(DETAILS)), label_visibility="collapsed"
    )
    import_module(f"ensemble.ui.classify_{key}").show(shown)
