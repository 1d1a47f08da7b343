"""Every view by its name: what an address, the command line and a notebook call it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ensemble.errors import ConfigError
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import View


@dataclass(frozen=True)
class RegisteredView:
    """One view.

    Attributes:
      name: its word.
      title: the same for people, and its heading in a report.
      page_break: whether its section begins a new page on paper.
      package: where its module is.
    """

    name: str
    title: str
    page_break: bool = True
    package: str = "ensemble.views"

    @property
    def build(self) -> Callable[[EvaluatedEpoch], View]:
        """The view itself: `build_calibration` in `ensemble.views.calibration`, imported now."""
        module = import_module(f"{self.package}.{self.name}")
        build: Callable[[EvaluatedEpoch], View] = getattr(module, f"build_{self.name}")
        return build


TEACHER_VIEW = "distillation"  # of runs alone that learnt from another
# In the order in which a report has them.
VIEWS = {
    view.name: view
    for view in (
        RegisteredView("answer", "Result", page_break=False),
        RegisteredView("loss_by_value", "Loss by value", page_break=False),
        RegisteredView("disputed", "Most disputed", package="ensemble.views.examples"),
        RegisteredView("agreement", "Agreement"),
        RegisteredView("member_map", "Where members stand", package="ensemble.views.examples"),
        RegisteredView("committee", "Committee"),
        RegisteredView("combining", "Combining"),
        RegisteredView("uncertainty", "Uncertainty"),
        RegisteredView("confusion", "Class by class"),
        RegisteredView("labels", "Labels in doubt", package="ensemble.views.examples"),
        RegisteredView("calibration", "Calibration"),
        RegisteredView("selective", "Answering only where it is sure"),
        RegisteredView("conformal", "Answering with a set"),
        RegisteredView("shift", "Shift"),
        RegisteredView(TEACHER_VIEW, "Against its teacher", page_break=False),
    )
}


def find_view(name: str) -> RegisteredView:
    """The view of this name.

    Raises:
      ConfigError: there is none.
    """
    if name not in VIEWS:
        raise ConfigError(f"There is no view {name!r:.60}: choose one of {', '.join(VIEWS)}.")
    return VIEWS[name]
