"""The colours of every figure, once: those of the page it stands on, and those that never change.

A page is light or dark; a figure is drawn for one of them and takes its `Palette` as an
argument, so that it looks the same on a page, in a report and in a test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Paul Tol's "bright" scheme, told apart with any colour vision, in his order: blue, red, green,
# yellow, cyan, purple, grey. His yellow, cyan and grey have 1.8 to 2.0 : 1 on white, too little
# for a thin line: here they are as dark as 3 : 1 asks for, and the same in both themes, so that a
# member has one hue everywhere. https://personal.sron.nl/~pault/
MEMBER_HUES = ("#4477AA", "#EE6677", "#228833", "#A39112", "#2B9EAD", "#AA3377", "#949494")
# From little to much, where members are told apart by a value: blue over purple to orange, lighter
# all the way, so that the order is seen with any colour vision, and in grey; 3 : 1 on both grounds.
RAMP_COLORS = ("#4A63C8", "#8758B8", "#B84C94", "#D05A5E", "#C97C2A")
MUTED_COLOR = "#7B8794"
RIGHT_COLOR, WRONG_COLOR = "#0077BB", "#EE7733"
ENSEMBLE_WIDTH, MEMBER_WIDTH = 3.0, 1.0


@dataclass(frozen=True)
class Palette:
    """The colours of a page, each written #RRGGBB; hashable, so that it can be part of a key.

    Attributes:
      mode: the page's look.
      ink: its text, in which the ensemble is drawn.
      ground: what is behind a figure.
      panel: the ground of what stands out from it a little.
      primary: its accent, of controls and of what is neither right nor wrong.
      border: of frames, and a figure's grid.
    """

    mode: Literal["light", "dark"]
    ink: str
    ground: str
    panel: str
    primary: str
    border: str

    @property
    def heatmap_scale(self) -> list[tuple[float, str]]:
        """From little to much, for a heat map: the page's ground to its accent."""
        return [(0.0, self.panel), (1.0, self.primary)]


# As the page's theme has them in `.streamlit/config.toml`, which no installed package holds;
# a test keeps the two equal.
LIGHT = Palette("light", ink="#1B1E23", ground="#FFFFFF", panel="#F3F5F7", primary="#3E6E9F", border="#D5DAE0")
DARK = Palette("dark", ink="#E8EAED", ground="#0E1013", panel="#1A1D21", primary="#4A79AE", border="#33383F")


def member_color(member: int, members: int) -> str:
    """The hue of member `member` (from 0) of `members`: fixed, the same on every screen.

    From eight members on there are more than eyes tell apart, and all share one hue.
    """
    return MEMBER_HUES[member] if members <= len(MEMBER_HUES) else MUTED_COLOR


def member_opacity(members: int) -> float:
    """How strongly a member's line is drawn: many members are a haze, not a tangle."""
    return 1.0 if members <= len(MEMBER_HUES) else 0.35


def interpolate_ramp_color(share: float) -> str:
    """The colour at this place, in [0, 1], between the least value and the largest."""
    place = share * (len(RAMP_COLORS) - 1)
    below = min(int(place), len(RAMP_COLORS) - 2)
    return mix_colors(RAMP_COLORS[below], RAMP_COLORS[below + 1], place - below)


def assign_ramp_colors(values: Sequence[float], log: bool) -> list[str]:
    """The colour of each value, by its place between the least and the largest.

    Args:
      values: finite; above 0 where `log`.
    """
    places = [math.log(value) if log else value for value in values]
    low, high = min(places), max(places)
    return [interpolate_ramp_color((place - low) / (high - low) if high > low else 0.5) for place in places]


def build_band_color() -> str:
    return f"rgba({', '.join(map(str, parse_hex_color(MUTED_COLOR)))}, 0.22)"


def parse_hex_color(color: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a colour written #RRGGBB."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue


def mix_colors(below: str, above: str, share: float) -> str:
    """Two colours mixed, as if `above` covered `below` with that opacity."""
    pairs = zip(parse_hex_color(below), parse_hex_color(above), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * share):02X}" for low, high in pairs)


def select_text_color(color: str) -> str:
    """Black or white, whichever can be read on `color` better.

    Source: relative luminance and contrast of WCAG 2.2, where 0.179 has the same to both.
    """
    shares = [part / 255 for part in parse_hex_color(color)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#FFFFFF"
