"""Numbers and times as people read them: the same figure looks the same on every screen."""

import math

from ensemble.analysis.quality.intervals import wilson


def decimals(n: int) -> int:
    """Decimals of a percentage counted on `n` examples: finer ones would say nothing."""
    return 1 if n < 2000 else 2


def percent(share: float | None, n: int = 10_000) -> str:
    """A share in [0, 1] of `n` examples as "99.12 %"; what is not known is an en dash."""
    if share is None or not math.isfinite(share):
        return "–"
    return f"{100 * share:.{decimals(n)}f} %"


def plus_minus(share: float, n: int) -> str:
    """Half the width of the 95 % Wilson interval, as "± 0.18" (percentage points)."""
    low, high = wilson(share * n, n)
    return f"± {50 * (high - low):.{decimals(n)}f}"


def digits(difference: float, noun: str = "digit") -> str:
    """A difference in test images as "+18 digits", "−1 digit" or "±0 digits"."""
    whole = round(difference)
    sign = "+" if whole > 0 else "−" if whole < 0 else "±"
    return f"{sign}{abs(whole):,} {noun}{'' if abs(whole) == 1 else 's'}"


def duration(seconds: float | None) -> str:
    """Seconds as "50 s", "1 min 20 s", "2 h 5 min" or "3 d 4 h"."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if 0 < seconds < 1:
        return "under 1 s"
    for big, small, size in (("d", "h", 86400), ("h", "min", 3600), ("min", "s", 60)):
        step = {86400: 3600, 3600: 60, 60: 1}[size]
        if (units := round(seconds / step)) * step >= size:
            whole, rest = divmod(units, size // step)
            return f"{whole} {big}" + (f" {rest} {small}" if rest else "")
    return f"{round(seconds)} s"


def clock(seconds: float | None) -> str:
    """Time left as "0:42" or "1:02:03"."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def throughput(rate: float | None) -> str:
    """Images times members per second, as "6,700 img·member/s"."""
    return f"{significant(rate, 2)} img·member/s" if rate else "– img·member/s"


def significant(value: float | None, figures: int = 3) -> str:
    """`value` to so many significant figures, as "0.0123" or "6,700"."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    places = figures - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(0, places)}f}"


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 member", "4 members"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
