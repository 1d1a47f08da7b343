"""A report as it is written, before it is a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.views.parts import Section


@dataclass(frozen=True)
class ReportContent:
    """A whole report.

    Attributes:
      title: what the run is called, or how many are compared.
      state: of the run; "" of several.
      subtitle: a line of what it is.
      introduction: what a deep ensemble is and how good this one is, for whoever has never seen
        one.
      sections: in their order.
    """

    title: str
    state: str
    subtitle: str
    introduction: str
    sections: Sequence[Section]
