"""What is brushed: how an address has it, and which runs it leaves."""

import json

import pytest

from ensemble.figures.comparison.columns import AxisColumn
from ensemble.ui.compare import axis_brushes

RATE = AxisColumn("learning_rate", "Learning rate", (0.01, 0.1, 1.0, None), log=True)
NETWORK = AxisColumn("network", "Network", ("MLP", "HOWTO's CNN", "MLP", "a;b|c:d"), is_number=False)
COLUMNS = [RATE, NETWORK]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (None, [True, True, True, True]),
        ("learning_rate:0.01..0.1", [True, True, False, False]),
        ("learning_rate:..0.1", [True, True, False, False]),
        ("learning_rate:0.1..", [False, True, True, False]),
        ("network:MLP", [True, False, True, False]),
        ("network:MLP|HOWTO%27s%20CNN", [True, True, True, False]),
        ("learning_rate:0.1..;network:MLP", [False, False, True, False]),
        ("learning_rate:..", [True, True, True, True]),
        ("seconds:1..2;learning_rate;nonsense:;:::", [True, True, True, True]),
        ("learning_rate:nan..inf", [True, True, True, True]),
    ],
)
def test_a_run_is_left_where_every_brush_holds_its_value(text: str | None, left: list[bool]) -> None:
    assert axis_brushes.compute_brush_mask(axis_brushes.parse_brushes(text, COLUMNS), COLUMNS) == left


def test_what_is_written_is_read_again_to_the_last_digit_and_letter() -> None:
    brushes: dict[str, axis_brushes.Brush] = {"learning_rate": (0.1 + 0.2, None), "network": ("a;b|c:d", "HOWTO's CNN")}
    assert axis_brushes.parse_brushes(axis_brushes.format_brushes(brushes), COLUMNS) == brushes


def test_the_browser_is_believed_only_where_it_makes_sense() -> None:
    sent = {
        "learning_rate": [0.01, None],
        "network": ["MLP"],
        "seconds": [1, 2],
        "x": "y",
        "y": [1, 2, 3],
        "z": [None, None],
    }
    found = axis_brushes.parse_browser_brushes(json.dumps(sent), COLUMNS)
    assert found == {"learning_rate": (0.01, None), "network": ("MLP",)}
    for nonsense in ("", "{", "[1]", "[" * 5000, '{"learning_rate": [1e999, {}]}'):
        assert axis_brushes.parse_browser_brushes(nonsense, COLUMNS) == {}


def test_what_is_brushed_is_said_in_words() -> None:
    found = axis_brushes.parse_brushes("learning_rate:0.01..0.1;network:MLP", COLUMNS)
    assert axis_brushes.describe_brushes(found, COLUMNS) == "learning rate 0.01 to 0.1, network MLP"
    found = axis_brushes.parse_brushes("learning_rate:0.1..", COLUMNS)
    assert axis_brushes.describe_brushes(found, COLUMNS) == "learning rate from 0.1"
