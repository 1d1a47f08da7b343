"""Every view by its name: what an address, the command line and a notebook call it.

A view is registered in its own module, by `VIEW = RegisteredView(…)`; pages, reports, notebooks, the command line,
its help, the docs and the tests list what they find here.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from ensemble import views
from ensemble.errors import ConfigError
from ensemble.views.parts import View

BETTER, TRUST, ROBUST = "Better?", "Trust?", "Robust?"


@dataclass(frozen=True)
class RegisteredView:
    """One view.

    Attributes:
      name: its word.
      title: the same for people, and its heading in a report.
      summary: what it shows, in at most 80 characters, for help and docs.
      build: the view itself, a function of an `EvaluatedEpoch`, or of `EvaluatedNumbers` if it is `numeric`.
      place: its position in a report among the others; answers come first.
      question: the group of Inspect's controls that it has a control in; "" if it has none.
      label: its title on that control, if the heading is too long; "" for the title.
      within: the view whose control on Inspect offers this one as well; "" if none does.
      part_label: its title among those that it offers, or that offer it, if the heading does not fit.
      needs_several: whether it compares members, so that one member has none.
      page_break: whether its section begins a new page on paper.
      numeric: whether it shows predicted numbers, not classes.
      applies: whether a report of this epoch contains it.
    """

    name: str
    title: str
    summary: str
    build: Callable[[Any], View]
    place: int
    question: str = ""
    label: str = ""
    within: str = ""
    part_label: str = ""
    needs_several: bool = False
    page_break: bool = True
    numeric: bool = False
    applies: Callable[[Any], bool] = lambda _: True


class _ViewRegistry(Mapping[str, RegisteredView]):
    """The views of one kind by name, in the order of a report. They are imported when first asked for."""

    def __init__(self, numeric: bool) -> None:
        self._numeric = numeric

    @cached_property
    def _views(self) -> dict[str, RegisteredView]:
        modules = pkgutil.walk_packages(views.__path__, f"{views.__name__}.")
        found = [getattr(import_module(module.name), "VIEW", None) for module in modules]
        registered = [view for view in found if isinstance(view, RegisteredView) and view.numeric == self._numeric]
        return {view.name: view for view in sorted(registered, key=lambda view: view.place)}

    def __getitem__(self, name: str) -> RegisteredView:
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)


VIEWS = _ViewRegistry(numeric=False)
NUMERIC_VIEWS = _ViewRegistry(numeric=True)


def find_view(name: str, views: Mapping[str, RegisteredView] = VIEWS) -> RegisteredView:
    """Return the view of this name.

    Args:
      views: those to choose from: `VIEWS` of classes, or `NUMERIC_VIEWS`.

    Raises:
      ConfigError: there is none; lists those there are, and reports if it is a view of the other kind.
    """
    if name in views:
        return views[name]
    offered = f"choose one of {', '.join(views)}."
    if views is VIEWS and name == "committee":
        raise ConfigError("The view committee is now called members.")
    if views is NUMERIC_VIEWS and name in VIEWS:
        raise ConfigError(f"The view {name} is for classes, and this run predicts numbers: {offered}")
    if views is VIEWS and name in NUMERIC_VIEWS:
        raise ConfigError(f"The view {name} is for numbers, and this run predicts classes: {offered}")
    raise ConfigError(f"There is no view {name!r:.60}: {offered}")
