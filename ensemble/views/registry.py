"""Every view by its name: what an address, the command line and a notebook call it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ensemble.errors import ConfigError
from ensemble.views.parts import View


@dataclass(frozen=True)
class RegisteredView:
    """One view.

    Attributes:
      name: its word.
      title: the same for people, and its heading in a report.
      question: the group of Inspect's controls that it has a control in; "" if another view shows it.
      label: its title on that control, where the heading is too long; "" for the title.
      needs_several: whether it compares members, so that one member has none.
      page_break: whether its section begins a new page on paper.
      package: where its module is.
      prefix: stands before its word in the names of its module and function.
    """

    name: str
    title: str
    question: str = ""
    label: str = ""
    needs_several: bool = False
    page_break: bool = True
    package: str = "ensemble.views"
    prefix: str = ""

    @property
    def build(self) -> Callable[[Any], View]:
        """The view itself: `build_calibration` in `ensemble.views.calibration`, imported now.

        It is of an `EvaluatedEpoch`, or, of `NUMERIC_VIEWS`, of `EvaluatedNumbers`.
        """
        module = import_module(f"{self.package}.{self.prefix}{self.name}")
        build: Callable[[Any], View] = getattr(module, f"build_{self.prefix}{self.name}")
        return build


BETTER, TRUST, ROBUST = "Better?", "Trust?", "Robust?"
TEACHER_VIEW = "distillation"  # of runs alone that learnt from another
_MEMBER_VIEWS = "ensemble.views.members"
# In the order in which a report has them.
VIEWS = {
    view.name: view
    for view in (
        RegisteredView("answer", "Result", page_break=False),
        RegisteredView("loss_by_value", "Loss by value", page_break=False),
        RegisteredView("disputed", "Most disputed", package="ensemble.views.examples"),
        RegisteredView("agreement", "Agreement", BETTER, needs_several=True, package=_MEMBER_VIEWS),
        RegisteredView("member_map", "Where members stand", needs_several=True, package="ensemble.views.examples"),
        RegisteredView("committee", "Committee", BETTER, needs_several=True),
        RegisteredView("combining", "Combining", BETTER, needs_several=True, package=_MEMBER_VIEWS),
        RegisteredView("uncertainty", "Uncertainty", TRUST),
        RegisteredView("confusion", "Class by class"),
        RegisteredView("labels", "Labels in doubt", package="ensemble.views.examples"),
        RegisteredView("calibration", "Calibration", TRUST),
        RegisteredView("selective", "Answering only where it is sure", TRUST, "Selective"),
        RegisteredView("conformal", "Answering with a set"),
        RegisteredView("shift", "Shift", ROBUST),
        RegisteredView(TEACHER_VIEW, "Against its teacher", BETTER, page_break=False, package=_MEMBER_VIEWS),
    )
}


def _register_numeric_view(name: str, title: str) -> RegisteredView:
    package = "ensemble.views.numeric"
    return RegisteredView(name, title, page_break=False, package=package, prefix="numeric_")


# Of ensembles that predict numbers, in the order in which a report has them.
NUMERIC_VIEWS = {
    view.name: view
    for view in (
        _register_numeric_view("answer", "Result"),
        _register_numeric_view("calibration", "Calibration"),
        _register_numeric_view("spread", "Spread and error"),
        _register_numeric_view("predicted", "Predicted against true"),
        _register_numeric_view("committee", "Committee"),
        _register_numeric_view("members", "Members"),
        _register_numeric_view("worst", "Worst examples"),
    )
}


def find_view(name: str, views: Mapping[str, RegisteredView] = VIEWS) -> RegisteredView:
    """The view of this name.

    Args:
      views: those that there are: `VIEWS` of classes, or `NUMERIC_VIEWS`.

    Raises:
      ConfigError: there is none; says for what there is, where it is a view of the other kind.
    """
    if name in views:
        return views[name]
    offered = f"choose one of {', '.join(views)}."
    if views is NUMERIC_VIEWS and name in VIEWS:
        raise ConfigError(f"The view {name} is for classes, and this run predicts numbers: {offered}")
    if views is VIEWS and name in NUMERIC_VIEWS:
        raise ConfigError(f"The view {name} is for numbers, and this run predicts classes: {offered}")
    raise ConfigError(f"There is no view {name!r:.60}: {offered}")
