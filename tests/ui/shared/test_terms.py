"""Terms of the trade: one table, and what of a screen changes where they are hidden."""

import pytest

from ensemble.ui.inspect.metrics import METRIC_HELP
from ensemble.ui.inspect.views import VIEWS
from ensemble.wording import terms
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened, value

ABBREVIATIONS = {"NLL", "ECE", "MCE"}


def test_every_term_has_plain_words_without_a_term_and_a_view_that_there_is() -> None:
    for term in terms.TERMS:
        assert not ABBREVIATIONS & set(term.plain.split())
        assert term.gloss.endswith(".")
        assert term.view in {"", *VIEWS}
    assert METRIC_HELP.keys() <= terms.TERMS_BY_NAME.keys(), "each figure of Inspect has plain words"
    assert len({term.plain for term in terms.TERMS}) == len(terms.TERMS)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("NLL (nats)", "Price of being sure but wrong (nats)"),
        ("adaptive ECE", "Sureness off by, equal groups"),
        ("who", "Who"),
    ],
)
def test_a_heading_is_the_term_or_its_plain_words_with_its_unit(name: str, plain: str) -> None:
    assert terms.format_term_heading(name, plain=False) == name
    assert terms.format_term_heading(name, plain=True) == plain


def test_a_hidden_term_stands_behind_the_question_mark() -> None:
    assert terms.format_term_help("ECE", "How far.", plain=True) == "**ECE**: How far."
    assert terms.format_term_help("ECE", "How far.", plain=False) == "How far."
    assert terms.format_term("epistemic", plain=False) == "members disagree (epistemic)"
    assert terms.format_term("epistemic", plain=True) == "members disagree"


def test_the_switch_is_read_from_a_link_and_remembered_in_the_address_and_from_screen_to_screen() -> None:
    at = opened(trained(members=2), page="inspect", terms="hidden")
    assert "Sureness off by" in {one.label for one in at.metric}
    assert not any(ABBREVIATIONS & set(one.label.split()) for one in at.metric)
    shown = [one.value for one in at.caption if one.key != "terms"]
    assert not any(ABBREVIATIONS & {word.strip(".,;:") for word in text.split()} for text in shown)
    at.toggle(key="plain_words").set_value(False).run()
    assert not at.exception
    assert value(at, "terms") is None
    assert {"NLL (nats)", "ECE"} <= {one.label for one in at.metric}
    at.toggle(key="plain_words").set_value(True).run()
    assert value(at, "terms") == "hidden"
    at.switch_page("pages/why.py").run()
    assert at.toggle(key="plain_words").value
    assert value(at, "terms") == "hidden"
    at.toggle(key="plain_words").set_value(False).run()
    assert value(at, "terms") is None
    at.switch_page("pages/inspect.py").run()
    assert "ECE" in {one.label for one in at.metric}
