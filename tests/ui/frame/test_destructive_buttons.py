"""What destroys something looks like nothing else, can be read, and is asked twice."""

import ast
import re
from pathlib import Path

import pytest

from ensemble.figures.palette import DARK, LIGHT, Palette
from tests.contrast import contrast

REPO = Path(__file__).resolve().parents[3]
STYLE = (REPO / "ensemble" / "ui" / "frame" / "js" / "frame.css").read_text()
PAIR = re.compile(r"light-dark\((#\w{6}), (#\w{6})\)")


def rule(selector: str) -> dict[str, str]:
    """What the style says of exactly this selector."""
    found = re.search(rf"(?:^|\n){re.escape(selector)} {{(.*?)}}", STYLE, re.DOTALL)
    assert found
    words = (line.split(":", 1) for line in found[1].split(";") if ":" in line)
    return {name.strip(): value.strip() for name, value in words}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda one: one.mode)
def test_words_of_danger_can_be_read(palette: Palette) -> None:
    pair = PAIR.fullmatch(rule('[class*="st-key-danger_"] button:not(:disabled)')["color"])
    under = PAIR.fullmatch(rule('[class*="st-key-danger_"] button:not(:disabled):hover')["background"])
    assert pair
    assert under
    which = ("light", "dark").index(palette.mode) + 1
    for ground in (palette.ground, palette.panel, under[which]):
        assert contrast(pair[which], ground) >= 4.5


def test_the_second_press_can_be_read_and_is_seen_on_both_grounds() -> None:
    over = "".join(f'[class*="st-key-danger_sure_"] button:not(:disabled){end}' for end in (",\n", ":hover"))
    filled = rule(over)["background"]
    assert contrast("#FFFFFF", filled) >= 4.5
    assert min(contrast(filled, palette.ground) for palette in (LIGHT, DARK)) >= 3


def test_whatever_deletes_is_a_button_of_danger_and_never_the_main_one() -> None:
    plain = []
    for path in (REPO / "ensemble" / "ui").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            said = ast.unparse(call) if isinstance(call, ast.Call) else ""
            if re.match(r"st\.button\(f?.Delete", said):
                plain.append(f"{path.name}: {said}")
    assert plain == []
