"""The colours of figures: those of the page's theme, and what is reckoned of them."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from ensemble.figures import palette
from ensemble.figures.palette import DARK, LIGHT
from tests.contrast import contrast, mix

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_a_palette_is_the_pages_theme(colors: palette.Palette) -> None:
    theme = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]
    assert list(palette.MEMBER_HUES) == theme["chartCategoricalColors"]
    of_mode = theme[colors.mode]
    assert vars(colors) == {
        "mode": colors.mode,
        "ink": of_mode["textColor"],
        "ground": of_mode["backgroundColor"],
        "panel": of_mode["secondaryBackgroundColor"],
        "primary": of_mode["primaryColor"],
        "border": of_mode["borderColor"],
    }


@pytest.mark.parametrize("hue", palette.MEMBER_HUES)
@pytest.mark.parametrize("ground", [LIGHT.ground, DARK.ground])
def test_a_members_thin_line_is_seen_on_either_ground(hue: str, ground: str) -> None:
    drawn = mix(ground, hue, palette.member_opacity(len(palette.MEMBER_HUES)))
    assert contrast(drawn, ground) >= 3  # WCAG 2.2, 1.4.11: graphical objects


@pytest.mark.parametrize("color", ["#0077BB", "#EE7733", "#FFFFFF", "#0E1013", "#7A7A7A"])
def test_words_on_a_colour_can_be_read(color: str) -> None:
    other = {"#000000": "#FFFFFF", "#FFFFFF": "#000000"}[palette.select_text_color(color)]
    assert contrast(palette.select_text_color(color), color) >= max(4.5, contrast(other, color))


def test_colours_are_mixed_as_one_over_the_other() -> None:
    assert palette.mix_colors("#000000", "#FF8000", 0.5) == "#804000"
    assert palette.mix_colors("#123456", "#FFFFFF", 0) == "#123456"


@pytest.mark.parametrize("ground", [LIGHT.ground, DARK.ground])
def test_the_colours_of_values_are_seen_on_either_ground_and_get_lighter(ground: str) -> None:
    seen = [contrast(palette.interpolate_ramp_color(place / 40), ground) for place in range(41)]
    assert min(seen) >= 3
    lighter = seen if ground == DARK.ground else seen[::-1]
    # By more than rounding to whole parts of 255 can take back: the order is there in grey as well.
    assert all(after > before - 0.05 for before, after in pairwise(lighter))
    assert lighter[-1] > 1.5 * lighter[0]


def test_a_value_has_the_colour_of_its_place_on_the_axis() -> None:
    even = palette.assign_ramp_colors([1.0, 50.5, 100.0], log=False)
    assert even == palette.assign_ramp_colors([0.01, 0.1, 1.0], log=True)
    assert even == [palette.RAMP_COLORS[0], palette.RAMP_COLORS[2], palette.RAMP_COLORS[4]]
    assert palette.assign_ramp_colors([0.1, 0.1], log=True) == [palette.RAMP_COLORS[2]] * 2
