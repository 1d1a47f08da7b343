"""The views of the screen Inspect: each is a module, imported when it is chosen."""

from importlib import import_module

from ensemble.ui.inspect_shown import Inspected

# The word in the address, which is how the module's name ends, and the label on the screen.
VIEWS = {
    "agreement": "Agreement",
    "uncertainty": "Uncertainty",
    "calibration": "Calibration",
    "committee": "Committee",
    "combining": "Combining",
    "selective": "Selective",
    "shift": "Shift",
    "digit": "One digit",
    "compare": "Compare runs",
}


def show(key: str, shown: Inspected) -> None:
    """Draw the view of that key: the `show` of the module `inspect_<key>`."""
    import_module(f"ensemble.ui.inspect_{key}").show(shown)
