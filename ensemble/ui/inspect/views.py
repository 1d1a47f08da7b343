"""The views of the screen Inspect: each is a module, imported when it is chosen."""

from importlib import import_module

from ensemble.ui.inspect.shown import Inspected

# The word in the address, and the label on the screen.
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


# Where each is, below this package: a module with a `show`.
MODULES = {
    "agreement": "members.agreement",
    "uncertainty": "certainty.uncertainty",
    "calibration": "certainty.calibration",
    "committee": "members.committee",
    "combining": "members.combining",
    "selective": "certainty.selective",
    "shift": "shift.corruptions",
    "digit": "shift.one_image",
    "compare": "compare",
}


def show(key: str, shown: Inspected) -> None:
    """Draw the view of that key."""
    import_module(f"ensemble.ui.inspect.{MODULES[key]}").show(shown)
