"""Figures of a reading of the test set: shares with Wilson's intervals, tables, and comparisons.

What became of one picture is a letter: r read right and kept, x right but rejected, w read wrong
and kept, n read wrong and rejected; of a non-digit, - rejected and ! taken for digits.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher
from math import comb
from typing import Any

from ensemble.analysis.inference.proportion_interval import wilson_interval

RIGHT, REJECTED = "rx", "-"


def outcome(row: dict[str, Any]) -> str:
    """The letter of a picture: by `text` (None for a non-digit), `right`, `kept`, `rejected`."""
    if row["text"] is None:
        return "-" if row["rejected"] else "!"
    return {(True, True): "r", (True, False): "x", (False, True): "w", (False, False): "n"}[row["right"], row["kept"]]


def outcomes(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The letters of each style's or kind's pictures, in their order."""
    letters: dict[str, str] = {}
    for row in rows:
        letters[row["style"]] = letters.get(row["style"], "") + outcome(row)
    return letters


def proportion(values: Iterable[bool]) -> dict[str, Any]:
    """How many of how many, the share, and the ends of its 95 % interval."""
    every = list(values)
    if not every:
        return {"true": 0, "of": 0}
    low, high = wilson_interval(sum(every), len(every))
    return {
        "true": sum(every),
        "of": len(every),
        "share": round(sum(every) / len(every), 4),
        "interval": [round(low, 4), round(high, 4)],
    }


def by_style(rows: list[dict[str, Any]], figure: str) -> dict[str, dict[str, Any]]:
    """For each style or kind the proportion of its pictures that a figure is true of."""
    names = dict.fromkeys(row["style"] for row in rows)
    return {name: proportion(r[figure] for r in rows if r["style"] == name) for name in names}


def same_digits(truth: str, answer: str) -> int:
    """How many digits of a number are read right, in their order."""
    return sum(block.size for block in SequenceMatcher(None, truth, answer).get_matching_blocks())


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All figures of the pictures that were read at one share to be rejected.

    Args:
      rows: of each picture `style`, `text`, `held`, `look_alike`, `labels`, `right`, `kept`,
        `rejected`, `marks` and `kept_marks`.
    """
    written = [row for row in rows if row["text"] is not None]
    digits = [row for row in written if not row["held"]]
    held_digits = [row for row in written if row["held"]]
    none = [row for row in rows if row["text"] is None]
    look_alikes = [row for row in none if row.get("look_alike")]
    tuning = [row for row in none if not row["held"] and not row.get("look_alike")]
    held = [row for row in none if row["held"]]
    correct_digits = sum(same_digits(row["text"], row["labels"]) for row in digits)
    right = by_style(digits, "right")
    return {
        "read_right": proportion(row["right"] for row in digits),
        "one_digit_read_right": proportion(r["right"] for r in digits if len(r["text"]) == 1),
        "numbers_read_right": proportion(r["right"] for r in digits if len(r["text"]) > 1),
        "mean_over_styles": round(sum(figure["share"] for figure in right.values()) / max(1, len(right)), 4),
        "digits_read_right": round(correct_digits / max(1, sum(len(row["text"]) for row in digits)), 4),
        "pictures_kept_whole": proportion(row["kept"] for row in digits),
        "right_but_rejected": proportion(row["right"] and not row["kept"] for row in digits),
        "tuning_rejected": proportion(row["rejected"] for row in tuning),
        "held_rejected": proportion(row["rejected"] for row in held),
        "held_digits_read_right": proportion(r["right"] for r in held_digits),
        "held_digits_kept": proportion(r["kept"] for r in held_digits),
        "letters_like_digits_rejected": proportion(r["rejected"] for r in look_alikes),
        "right_by_style": right,
        "kept_by_style": by_style(digits, "kept"),
        "held_right_by_style": by_style(held_digits, "right"),
        "held_kept_by_style": by_style(held_digits, "kept"),
        "tuning_rejected_by_kind": by_style(tuning, "rejected"),
        "held_rejected_by_kind": by_style(held, "rejected"),
    }


def trade_off(readings: dict[float, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """For each share that may be rejected: what is rejected of digits, tuning and held kinds.

    Of digits it is counted mark by mark, where a mark was found, as the threshold is set.
    """
    table = []
    for refuse, rows in readings.items():
        digits = [row for row in rows if row["text"] is not None and not row["held"]]
        marks, lost = (sum(row[key] for row in digits) for key in ("marks", "kept_marks"))
        none = [row for row in rows if row["text"] is None and not row.get("look_alike")]
        table.append(
            {
                "refuse": refuse,
                "digits_rejected": round(1 - lost / max(1, marks), 4),
                "tuning_rejected": proportion(r["rejected"] for r in none if not r["held"]),
                "held_rejected": proportion(r["rejected"] for r in none if r["held"]),
            }
        )
    return table


def as_text(figure: dict[str, Any]) -> str:
    """A proportion as people read it: 43 of 50, 86 % (74 to 93 %)."""
    if not figure["of"]:
        return "none"
    low, high = figure["interval"]
    return f"{figure['true']} of {figure['of']}, {100 * figure['share']:.1f} % ({100 * low:.0f} to {100 * high:.0f} %)"


def printed(results: dict[str, Any]) -> str:
    """All figures as a table."""
    lines = []
    for name, value in results.items():
        if isinstance(value, dict) and "of" in value:
            lines.append(f"{name.replace('_', ' '):<24} {as_text(value)}")
        elif name.endswith(("_by_style", "_by_kind")) and value:
            lines += ["", f"{name.replace('_', ' ')}:"]
            lines += [f"  {style:<24} {as_text(share)}" for style, share in value.items()]
        elif name == "trade_off":
            lines += ["", "refuse   digits rejected   tuning kinds rejected | held kinds rejected"]
            lines += [
                f"{100 * row['refuse']:5.0f} % {100 * row['digits_rejected']:14.1f} %    "
                f"{as_text(row['tuning_rejected'])} | {as_text(row['held_rejected'])}"
                for row in value
            ]
        elif isinstance(value, float):
            lines.append(f"{name.replace('_', ' '):<24} {100 * value:.1f} %")
    return "\n".join(lines)


def sign_test(won: int, lost: int) -> float:
    """Two-sided p of McNemar's exact test: that of `won + lost` changes so few go one way.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12 (1947).
    """
    n = won + lost
    tail = sum(comb(n, k) for k in range(min(won, lost) + 1)) / 2**n
    return min(1.0, 2 * tail)


def compared(now: dict[str, str], before: dict[str, str]) -> str:
    """What changed between two readings of the same pictures, by style, and the sign test.

    Args:
      now: as `outcomes` gives them.
      before: the same of the earlier reading; only what both have is compared.
    """
    lines = []
    for title, good in (("read right", RIGHT), ("kept or rejected as it should be", "r-")):
        won, lost, changed = 0, 0, []
        for style in [name for name in now if name in before]:
            pairs = [
                (a in good, b in good)
                for a, b in zip(now[style], before[style], strict=False)
                if title != "read right" or a not in "-!"
            ]
            up, down = pairs.count((True, False)), pairs.count((False, True))
            won, lost = won + up, lost + down
            if up or down:
                changed.append(f"  {style:<24} +{up} −{down}")
        lines += [f"{title}: +{won} −{lost}, p = {sign_test(won, lost):.3f}", *changed]
    return "\n".join(lines)
