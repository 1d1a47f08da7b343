"""The colours of every figure, once."""

# Paul Tol's "bright" scheme: told apart with any colour vision, on white and on black.
# https://personal.sron.nl/~pault/
MEMBER_HUES = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB")
MUTED = "#7B8794"
RIGHT, WRONG = "#0077BB", "#EE7733"
ENSEMBLE_WIDTH, MEMBER_WIDTH = 3.0, 1.0


def member_color(member: int, members: int) -> str:
    """The hue of member `member` (from 0) of `members`: fixed, the same on every screen.

    From eight members on there are more than eyes tell apart, and all share one hue.
    """
    return MEMBER_HUES[member] if members <= len(MEMBER_HUES) else MUTED


def member_opacity(members: int) -> float:
    """How strongly a member's line is drawn: many members are a haze, not a tangle."""
    return 0.95 if members <= len(MEMBER_HUES) else 0.35


def wash() -> str:
    """The faint fill of a band between two lines."""
    return f"rgba({', '.join(map(str, parts(MUTED)))}, 0.22)"


def parts(color: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a colour written #RRGGBB."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue


def mixed(below: str, above: str, share: float) -> str:
    """Two colours mixed, as if `above` covered `below` with that opacity."""
    pairs = zip(parts(below), parts(above), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * share):02X}" for low, high in pairs)


def on(color: str) -> str:
    """Black or white, whichever can be read on `color` better.

    Source: relative luminance and contrast of WCAG 2.2, where 0.179 has the same to both.
    """
    shares = [part / 255 for part in parts(color)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#FFFFFF"
