"""A comparison in lines of text: ends in their order, and signs as the figures have them."""

import re
from dataclasses import replace

import pytest

from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.wording.verdicts import comparison_text
from ensemble.wording.verdicts.comparison_text import format_comparison_lines
from tests.comparison.drawn import finished


def read_numbers(text: str) -> list[float]:
    """The numbers of a line, with their signs."""
    plain = text.replace("\N{MINUS SIGN}", "-").replace("\N{PLUS-MINUS SIGN}", "")
    return [float(number) for number in re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?", plain)]


def test_each_figure_lies_between_its_ends_and_each_difference_has_its_own_sign() -> None:
    base, other = finished({"momentum": 0.1}, skill=2.0), finished({"momentum": 0.8}, skill=2.6, draw=5)
    for first, sign in ((base, 1), (other, -1)):
        table = build_comparison_table(group_runs([base, other]), first.id)
        lines = format_comparison_lines(table, "digit")
        head = next(place for place, line in enumerate(lines) if line.startswith("group"))
        for line in lines[head + 1 : head + 3]:
            cells = re.findall(r"[\d.]+(?: %)? \([\d.]+ to [\d.]+\)", line)
            assert len(cells) == 2, "accuracy and NLL"
            for value, low, high in map(read_numbers, cells):
                assert low < value < high
        (column,) = [column for column in table.columns if column.difference]
        difference = column.difference
        assert difference is not None
        (line,) = [line for line in lines if "right only here" in line]
        text = line.split(column.group.title, 1)[1]
        digits, low, high, won, lost = read_numbers(text)[:5]
        nll, nll_low, nll_high = read_numbers(text.split("NLL", 1)[1])[:3]
        assert (digits, won, lost) == (difference.digits, difference.won, difference.lost)
        assert low < digits < high
        assert nll_low < nll < nll_high
        assert [digits > 0, nll < 0] == [sign > 0] * 2


@pytest.mark.parametrize(
    ("won", "lost", "text"),
    [
        (12.0, 3.0, "12 right only here, 3 only there"),
        (12.5, 3.0, "12.5 right only here, 3.0 only there"),
        (12.0, 0.5, "12.0 right only here, 0.5 only there"),
    ],
)
def test_won_and_lost_have_a_decimal_only_where_one_is_a_fraction(won: float, lost: float, text: str) -> None:
    made = [finished({"momentum": 0.1}), finished({"momentum": 0.8}, draw=5)]
    table = build_comparison_table(group_runs(made), made[0].id)
    [column] = [column for column in table.columns if column.difference]
    assert column.difference is not None
    changed = replace(column, difference=replace(column.difference, won=won, lost=lost))
    assert text in comparison_text._describe_baseline_gain(changed, "digit")
