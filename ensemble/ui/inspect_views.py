"""The views of the screen Inspect: each is a module, imported when it is chosen."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from ensemble.ui.inspect_shown import Inspected


@dataclass(frozen=True)
class View:
    """One view: its word in the address, its name, and its help line."""

    key: str
    label: str

    @property
    def module(self) -> str:
        """The module whose `show(shown)` draws it."""
        return f"ensemble.ui.inspect_{self.key}"


VIEWS = (
    View("agreement", "Agreement"),
    View("uncertainty", "Uncertainty"),
    View("calibration", "Calibration"),
    View("committee", "Committee"),
    View("combining", "Combining"),
    View("selective", "Selective"),
    View("shift", "Shift"),
    View("digit", "One digit"),
    View("compare", "Compare runs"),
)


def there() -> dict[str, str]:
    """The views that there are: their labels by their words in the address."""
    return {view.key: view.label for view in VIEWS if find_spec(view.module)}


def show(key: str, shown: Inspected) -> None:
    """Draw one view."""
    view = next(view for view in VIEWS if view.key == key)
    import_module(view.module).show(shown)
