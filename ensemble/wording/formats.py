"""Numbers and times as people read them: the same figure looks the same on every screen."""

import math
from collections.abc import Iterable

from ensemble.analysis.inference.proportion_interval import wilson_interval


def count_percent_decimals(n: int) -> int:
    """Decimals of a percentage counted on `n` examples: finer ones would say nothing."""
    return 1 if n < 2000 else 2


def format_percent(
    share: float | None, n: int = 10_000, *, places: int | None = None, figures: int | None = None
) -> str:
    """A share as a percentage, "99.12 %"; what is not known is an en dash.

    How finely it is said is one of three rules; `format_probability`, `format_confidence_threshold`
    and `format_progress` are what becomes of a probability, a threshold and work that goes on.

    Args:
      share: in [0, 1].
      places: so many decimals whatever it was counted on: 0 for marks on an axis, 1 or 2 for
        what is reckoned rather than counted.
      figures: so many significant ones, without zeros at the end, for what spans powers of ten:
        "5 %", "0.25 %"; one more from 99 % on.
    """
    if share is None or not math.isfinite(share):
        return "–"
    value = 100 * share
    if figures is None:
        return f"{value:.{count_percent_decimals(n) if places is None else places}f} %"
    number_text = format_significant(value, figures + (99 <= value < 100))
    return f"{number_text.rstrip('0').rstrip('.') if '.' in number_text else number_text} %"


def format_percent_range(low: float, high: float, places: int = 0) -> str:
    """Two shares as the ends of a range: "52 to 78 %"."""
    return f"{format_percent(low, places=places).removesuffix(' %')} to {format_percent(high, places=places)}"


def build_percent_format(n: int) -> str:
    """`format_percent` of a share that was counted on `n`, for a column of numbers that are sorted.

    A format of printf for numbers in percent, as Streamlit takes it.
    """
    return f"%.{count_percent_decimals(n)}f %%"


def format_probability(probability: float) -> str:
    """A probability as "61.0 %" or "99.7 %"; never a whole 0 or 100, which none is."""
    if probability >= 0.9995:
        return "over 99.9 %"
    return "under 0.1 %" if probability < 0.0005 else format_percent(probability, places=1)


def format_confidence_threshold(threshold: float) -> str:
    """A threshold of confidence, with as many nines as it has: "97.3 %", "99.998 %"."""
    percentages = (format_percent(threshold, places=places) for places in range(1, 6))
    return next((percent_text for percent_text in percentages if not percent_text.startswith("100")), "100 %")


def format_progress(share: float) -> str:
    """How far work is: "40 %", and "100 %" not before its end."""
    return format_percent(math.floor(100 * share + 1e-9) / 100, places=0)


def format_wilson_interval(share: float, n: int) -> str:
    """The 95 % Wilson interval of a share that was counted on `n`: see `format_share_interval`."""
    return format_share_interval(share, *wilson_interval(share * n, n), n)


def format_share_interval(share: float, low: float, high: float, n: int) -> str:
    """The interval of a share that was counted on `n`, in percentage points.

    Half its width, "± 0.18", where it reaches about as far either way, by a quarter of that at
    most; else both ends, "(98.9 to 100)": near 0 and 100 % it cannot reach beyond.
    """
    half, places = (high - low) / 2, count_percent_decimals(n)
    if abs(high + low - 2 * share) <= half / 4:
        return f"± {100 * half:.{places}f}"
    ends = (f"{100 * end:.{places}f}" for end in (low, high))
    whole = {f"{end:.{places}f}": str(end) for end in (0, 100)}  # a phone has no room for zeros
    return f"({' to '.join(whole.get(end, end) for end in ends)})"


def round_half_away(value: float) -> int:
    """The whole number next to it, of two the larger in size, whatever rounding left of a half.

    A half comes out of two sums as 17.5 and as 17.499999999: it has to read the same.
    """
    size = math.floor(abs(value) + 0.5 + 1e-6)
    return size if value > 0 else -size


def format_image_difference(difference: float, noun: str = "digit") -> str:
    """A difference in test images as "+18 digits", "−1 digit" or "±0 digits"."""
    whole = round_half_away(difference)
    sign = "+" if whole > 0 else "−" if whole < 0 else "±"
    return f"{sign}{abs(whole):,} {noun if abs(whole) == 1 else pluralize_noun(noun)}"


def format_duration(seconds: float | None, *, fine: bool = False) -> str:
    """Seconds as "50 s", "1 min 20 s", "2 h 5 min" or "3 d 4 h"; what is not known is a dash.

    Args:
      seconds: how long; less than none, of a guess that was too short, is none.
      fine: it was measured, and its parts of a second count: "0.84 ms", "31 ms", "1.25 s".
    """
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if fine and 0 < seconds < 59.95:
        return _format_milliseconds(seconds)
    if 0 < seconds < 1:
        return "under 1 s"
    for big, small, size in (("d", "h", 86400), ("h", "min", 3600), ("min", "s", 60)):
        step = {86400: 3600, 3600: 60, 60: 1}[size]
        if (units := round(seconds / step)) * step >= size:
            whole, rest = divmod(units, size // step)
            return f"{whole} {big}" + (f" {rest} {small}" if rest else "")
    return f"{max(0, round(seconds))} s"


def _format_milliseconds(seconds: float) -> str:
    """Less than a minute to two or three figures, in milliseconds up to a second."""
    ms = 1000 * seconds
    if ms >= 999.5:
        return f"{format_significant(seconds)} s"
    return f"{format_significant(ms, 2) if ms < 100 else round(ms)} ms"


def format_throughput(rate: float | None, what: str = "img") -> str:
    """Images, or rows, times members per second, as "6,700 img·member/s"."""
    return f"{format_significant(rate, 2) if rate else '–'} {what}·member/s"


def format_significant(value: float | None, figures: int = 3) -> str:
    """`value` to so many significant figures, as "0.0123" or "6,700".

    From 10⁹ on, and below 10⁻⁹, as "1.23e10".
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e9:  # A loss that ran away: a column of its digits says less.
        return f"{value:.{figures - 1}e}".replace("e+", "e")
    if abs(value) < 1e-9:  # Nothing, but for the rounding.
        return f"{value:.{figures - 1}e}".replace("e-0", "e-")
    # The power of ten once it is rounded: 9.996 is "10.0", not "10.00".
    places = figures - 1 - int(f"{value:.{figures - 1}e}".partition("e")[2])
    return f"{round(value, places):,.{max(0, places)}f}"


def format_plain_number(value: float) -> str:
    """A setting's value: "0.0001", "0.1", "4,096"."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.10f}".rstrip("0").rstrip(".")


# Those that pictures are often of; an epoch ends in a k.
_IRREGULAR_PLURALS = {
    "leaf": "leaves",
    "half": "halves",
    "loaf": "loaves",
    "wolf": "wolves",
    "knife": "knives",
    "man": "men",
    "woman": "women",
    "person": "people",
    "child": "children",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "mouse": "mice",
    "fish": "fish",
    "sheep": "sheep",
    "aircraft": "aircraft",
    "species": "species",
    "epoch": "epochs",
}


def format_count(number: int, noun: str) -> str:
    """A number with its noun: "1 member", "4 members"."""
    return f"{number:,} {noun if number == 1 else pluralize_noun(noun)}"


def pluralize_noun(noun: str) -> str:
    """What several of a noun are called: "digits", "classes", "berries", "leaves"."""
    stem, word = (noun[: noun.rfind(" ") + 1], noun[noun.rfind(" ") + 1 :])
    if irregular := _IRREGULAR_PLURALS.get(word.lower()):
        return stem + irregular
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "i", "o", "u", ""):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def format_finding_subject(number: int, noun: str) -> str:
    """The beginning of what they show: "These 500 digits show", "This one digit shows"."""
    return f"This one {noun} shows" if number == 1 else f"These {number:,} {pluralize_noun(noun)} show"


def join_items(items: Iterable[object]) -> str:
    """Join items in a sentence: "2, 3 and 5"."""
    *first, last = map(str, items)
    return f"{', '.join(first)} and {last}" if first else last
