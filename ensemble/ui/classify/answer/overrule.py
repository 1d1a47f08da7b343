"""What a person has overruled in how a picture is prepared: for this tab, picture by picture."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from ensemble.pictures.ink.extraction import Choices

KEPT, MOST = "classify_overrules", 300
WHOLE = (0.0, 0.0, 1.0, 1.0)
Crop = tuple[float, float, float, float]


@dataclass(frozen=True)
class Overrule:
    """The choices of `ensemble.pictures.ink.extraction.Choices`, without what importing it costs.

    Attributes:
      ink: "auto", "dark" or "light".
      threshold: -1 to 1; more wants darker ink.
      crop: left, top, right and bottom of the part that is read, in shares of the picture.
    """

    ink: str = "auto"
    threshold: float = 0.0
    crop: Crop = WHOLE

    @property
    def word(self) -> str:
        """Differs when any of them does: for the keys of caches."""
        return f"{self.ink}{self.threshold:+.2f}" + "".join(f",{side:.4f}" for side in self.crop)

    def choices(self) -> "Choices":
        """As the preparation takes them."""
        from ensemble.pictures.ink.extraction import Choices

        ink: Any = self.ink
        return Choices(ink, self.threshold, None if self.crop == WHOLE else self.crop)


NONE = Overrule()


def of(ident: str) -> Overrule:
    """What is overruled in the picture of that id."""
    found: Overrule = st.session_state.get(KEPT, {}).get(ident, NONE)
    return found


def put(ident: str, **changes: Any) -> None:
    """Callback: overrule some of it."""
    every = dict(st.session_state.get(KEPT, {}))
    every[ident] = replace(every.pop(ident, NONE), **changes)
    # The latest stand last.
    st.session_state[KEPT] = dict(list(every.items())[-MOST:])


def reset(ident: str) -> None:
    """Callback: everything as the program would have it."""
    every = dict(st.session_state.get(KEPT, {}))
    every.pop(ident, None)
    st.session_state[KEPT] = every
