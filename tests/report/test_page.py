"""A report loads nothing, runs nothing that a run has brought, and can be read without eyes."""

import base64
import hashlib
import re
from importlib import resources
from itertools import pairwise

import plotly.graph_objects as go
import pytest

from ensemble.figures.palette import DARK, LIGHT
from ensemble.report.elements import PageElements, escape_html_attribute, escape_html_text, render_sentence_html
from ensemble.report.figure_spec import diff_json_values
from ensemble.views.parts import Figure, Figures
from ensemble.wording import escaping
from tests.contrast import contrast
from tests.report.conftest import NAME, NOTE
from tests.report.pages import Page

PLOTLY = (resources.files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def policy(page: Page) -> dict[str, list[str]]:
    said = next(one for one in page.all("meta") if "http-equiv" in one.attributes)
    parts = (part.split() for part in str(said.attributes["content"]).split(";"))
    return {name: values for name, *values in parts}


def test_a_name_that_would_be_markup_is_read_letter_by_letter(page: Page) -> None:
    assert page.all("h1")[0].text == page.all("title")[0].text == NAME
    assert NOTE in page.said
    assert not page.all("img", "iframe", "object", "link", "form", "base", "a:not([href^='#'])")
    assert not [one for one in page.elements for name in one.attributes if name.startswith("on")]


def test_the_policy_lets_two_scripts_run_which_it_names_by_their_hash(page: Page) -> None:
    run = [one for one in page.all("script") if "type" not in one.attributes]
    assert len(run) == 1
    texts = [run[0].text.encode(), PLOTLY]
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(one).digest()).decode()}'" for one in texts}
    rules = policy(page)
    assert set(rules.pop("script-src")) == hashes
    assert rules.pop("style-src") == ["'unsafe-inline'"], "styles cannot run anything"
    assert rules.pop("img-src") == ["data:", "blob:"]
    assert rules == {name: ["'none'"] for name in ("default-src", "base-uri", "form-action")}
    assert page.packed("library").encode() == PLOTLY


def test_data_is_of_a_type_that_no_browser_runs_and_of_letters_that_end_no_script(page: Page) -> None:
    data = [one for one in page.all("script") if "type" in one.attributes]
    assert {one.attributes["type"] for one in data} == {"application/octet-stream", "application/vnd.ensemble.capsule"}
    assert all(re.fullmatch(r"[A-Za-z0-9+/=\s]+", one.text) for one in data)


def test_no_address_stands_in_it_but_places_of_its_own(page: Page) -> None:
    for one in page.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            assert (one.attributes.get(name) or "#").startswith("#"), one
        for style in re.findall(r"url\((.{6})", one.attributes.get("style") or ""):
            assert style == "'data:"
    styles = "".join(one.text for one in page.all("style"))
    assert not re.search(r"url\(|@import|@font-face|//", styles)


def test_headings_are_in_order_and_every_section_is_in_the_contents(page: Page) -> None:
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= before + 1 for before, later in pairwise(levels))
    sections = [f"#{one.attributes['id']}" for one in page.all("section")]
    links = [one for one in page.all("a") if "nav" in one.parents]
    assert [one.attributes["href"] for one in links] == sections


def test_every_figure_and_image_is_in_words_and_every_table_has_a_name(page: Page) -> None:
    plots, images = page.by_class("plot"), page.by_class("image")
    assert len(plots) == len(page.figures) >= 20
    assert len(images) == 24
    for one in (*plots, *images):
        assert one.attributes["role"] == "img"
        assert len(str(one.attributes["aria-label"])) > 20
    assert all(one.attributes["aria-label"] for one in page.by_class("wide"))
    assert len(page.by_class("wide")) == len(page.all("table"))
    assert [one.attributes["scope"] for one in page.all("th") if "thead" in one.parents]


def test_a_button_stands_for_each_figure_to_choose_and_the_first_is_shown(page: Page) -> None:
    hidden = [one for one in page.by_class("drawn") if "hidden" in one.attributes]
    pressed = [one.attributes["aria-pressed"] for one in page.all("button") if "aria-pressed" in one.attributes]
    assert len(hidden) == pressed.count("false") > 0
    assert pressed.count("true") == len(page.by_class("several"))


def test_the_dark_figure_is_the_light_one_with_a_few_other_values(page: Page) -> None:
    for one in page.figures:
        light = one["figure"]["layout"]["template"]["layout"]
        assert light["paper_bgcolor"] == LIGHT.ground
        at = ["layout", "template", "layout", "paper_bgcolor"]
        assert [at, DARK.ground] in one["dark"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": [1, {"b": 2}], "c": "x"}, {"a": [1, {"b": 3}], "c": "y"}),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}),
        ({"a": 1}, {"b": 1}),
        ({"a": list(range(20))}, {"a": list(range(20, 40))}),
        ({"a": None, "b": True}, {"a": 0, "b": True}),
    ],
)
def test_changes_turn_one_value_into_the_other(before: object, after: object) -> None:
    whole: list[object] = [before]
    for path, value in diff_json_values([before], [after]) or []:
        at: object = whole
        for step in path[:-1]:
            at = at[step]  # type: ignore[index]
        if path:
            at[path[-1]] = value  # type: ignore[index]
        else:
            whole = value
    assert whole == [after]


@pytest.mark.parametrize("name", ["<b>7</b>", "**7**", r"a\*b", "a & b", "\x007\x00", "_x_ [y](z)"])
def test_a_class_within_a_sentence_in_markdown_is_read_as_it_is(name: str) -> None:
    made = render_sentence_html(f"**Bold**: {escaping.escape_markdown(name)} taken for it.")
    read = Page(f"<p>{made}</p>").all("p")[0].text
    assert read == f"Bold: {name.replace(chr(0), '')} taken for it."
    assert made.startswith("<strong>Bold</strong>: ")
    assert "<b>" not in made


def test_what_cannot_be_seen_stands_nowhere_and_lines_of_a_note_stay() -> None:
    said = "a\x00\x1b\u202e\ud800b\nc\td"
    assert (escape_html_text(said), escape_html_attribute(said), render_sentence_html(said)) == (
        "ab\nc\td",
        "ab c d",
        "ab\nc\td",
    )


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_right_and_wrong_can_be_read_in_either_look(look: object) -> None:
    from ensemble.report.template import VERDICT_TEXT_COLORS

    for shade in VERDICT_TEXT_COLORS[look.mode]:  # type: ignore[attr-defined]
        assert contrast(shade, look.ground) >= 4.5  # type: ignore[attr-defined]


def test_the_labels_of_figures_to_choose_from_are_text_on_their_buttons() -> None:
    figures = [Figure(f"<b>{name}</b>", "alt", "explained", lambda palette: go.Figure()) for name in ("one", "two")]
    made = PageElements().render_figures(Figures.several('"which"', figures))
    assert re.findall(r"<button [^>]*>(.*?)</button>", made) == ["&lt;b&gt;one&lt;/b&gt;", "&lt;b&gt;two&lt;/b&gt;"]
    assert 'aria-label="&quot;which&quot;"' in made
