"""Figures of a reading, on rows that are made up, against counts by hand and SciPy."""

import json
from types import SimpleNamespace

import pytest
from scipy import stats

from benchmarks.pictures import classify, figures


def row(style, text, labels, kept=True, held=False, look_alike=False):
    """One picture's row: each mark of it kept, or none."""
    marks = len(labels)
    return {
        "style": style,
        "text": text,
        "labels": labels,
        "held": held,
        "look_alike": look_alike,
        "right": text == labels,
        "kept": kept,
        "rejected": not kept,
        "marks": marks,
        "kept_marks": marks * kept,
    }


ROWS = [
    row("plain", "3", "3"),
    row("plain", "4", "9"),
    row("plain", "5", "5", kept=False),
    row("number", "123", "123"),
    row("number", "45", "4", kept=False),
    row("letters", None, "7"),
    row("letters", None, "", kept=False),
    row("signs", None, "1", kept=False, held=True),
    row("signs", None, "1", held=True),
    row("signs", None, "1", kept=False, held=True),
    row("letters like digits", None, "0", look_alike=True),
    row("stencil", "8", "8", held=True),
    row("stencil", "6", "0", kept=False, held=True),
]


def test_shares_are_counted_for_tuning_and_held_kinds_apart() -> None:
    found = figures.summary(ROWS)
    counts = {name: (one["true"], one["of"]) for name, one in found.items() if isinstance(one, dict) and "of" in one}
    assert counts == {
        "read_right": (3, 5),
        "one_digit_read_right": (2, 3),
        "numbers_read_right": (1, 2),
        "pictures_kept_whole": (3, 5),
        "right_but_rejected": (1, 5),
        "tuning_rejected": (1, 2),
        "held_rejected": (2, 3),
        "held_digits_read_right": (1, 2),
        "held_digits_kept": (1, 2),
        "letters_like_digits_rejected": (0, 1),
    }
    assert found["digits_read_right"] == pytest.approx(6 / 8)
    assert found["mean_over_styles"] == pytest.approx((2 / 3 + 1 / 2) / 2, abs=1e-4)
    assert list(found["tuning_rejected_by_kind"]) == ["letters"]
    assert list(found["held_rejected_by_kind"]) == ["signs"]
    table = figures.printed(found | {"trade_off": figures.trade_off({0.03: ROWS})})
    assert "2 of 3, 66.7 % (21 to 94 %)" in table


def test_a_picture_that_is_rejected_as_a_whole_keeps_none_of_its_digits() -> None:
    said = [SimpleNamespace(label=label, rejected=label == 3) for label in (1, 3, 7)]
    truth = {"style": "words", "text": None, "held": False, "look_alike": False}
    for why, kept in (("", 2), ("Too much is nothing that I know.", 0)):
        reading = SimpleNamespace(digits=said, text="1?7", picture_rejection=why)
        one = classify.judge(truth, reading)
        assert (one["labels"], one["kept_marks"], one["kept"]) == ("137", kept, False)
        assert figures.outcome(one) == ("!" if kept else "-")


def test_intervals_are_wilsons() -> None:
    low, high = figures.proportion([True] * 43 + [False] * 7)["interval"]
    wanted = stats.binomtest(43, 50).proportion_ci(0.95, "wilson")
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-4)


def test_the_trade_off_counts_marks_of_digits_and_pictures_of_others() -> None:
    (one,) = figures.trade_off({0.03: ROWS})
    assert one["digits_rejected"] == pytest.approx(2 / 7, abs=1e-4)
    assert (one["tuning_rejected"]["share"], one["held_rejected"]["true"]) == (0.5, 2)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (5, 0), (3, 9), (12, 12)])
def test_a_comparison_has_mcnemars_exact_p(won, lost) -> None:
    wanted = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert figures.sign_test(won, lost) == pytest.approx(wanted)


def test_what_has_changed_is_said_by_style_and_so_is_another_set(tmp_path) -> None:
    before = tmp_path / "before.json"
    now = {"outcomes": {"plain": "rrxw", "letters": "--!"}, "pictures": {"plain": "a", "letters": "b"}}
    was = {"outcomes": {"plain": "rwrw", "letters": "!-!"}, "pictures": {"plain": "a", "letters": "c"}}
    before.write_text(json.dumps(was))
    said = classify.against(now, before)
    assert said.splitlines()[0] == "Not the same pictures, so that this says little: letters."
    assert "read right: +1 −0, p = 1.000" in said
    assert "kept or rejected as it should be: +2 −1, p = 1.000" in said
    before.write_text("{}")
    with pytest.raises(SystemExit, match="no outcomes to compare with: write it by --out"):
        classify.against(now, before)
