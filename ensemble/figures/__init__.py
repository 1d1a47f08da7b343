"""Figures: data and a palette in, a Plotly figure out.

From predictions one line each, in a notebook as on the pages:

    from ensemble import figures
    figures.calibration(predictions)
    figures.committee(predictions, "nll", palette=figures.DARK).write_html("committee.html")

They are imported when one is asked for: whoever wants only the colours does not wait for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "DARK",
    "LIGHT",
    "Palette",
    "agreement",
    "calibration",
    "combining",
    "committee",
    "compare",
    "conformal",
    "confusion",
    "decomposition",
    "selective",
    "uncertainty",
]

if TYPE_CHECKING:
    from ensemble.figures.palette import DARK, LIGHT, Palette
    from ensemble.views.prediction_figures import (
        agreement,
        calibration,
        combining,
        committee,
        compare,
        conformal,
        confusion,
        decomposition,
        selective,
        uncertainty,
    )
else:

    def __getattr__(name: str) -> object:
        """A name of `__all__`, imported now."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        is_palette = name in ("DARK", "LIGHT", "Palette")
        module = "ensemble.figures.palette" if is_palette else "ensemble.views.prediction_figures"
        value = getattr(import_module(module), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """What there is, also what is not imported yet."""
        return sorted({*globals(), *__all__})
