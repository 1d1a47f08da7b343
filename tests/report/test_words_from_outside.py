"""Words from outside are letters of a report in every place of it, and of its figures."""

import dataclasses
from collections.abc import Iterator

import pytest

from ensemble import datasets, runs
from ensemble.datasets import registry
from ensemble.report import render_report
from ensemble.runs.annotations.notes import write_run_note
from ensemble.shift.results import write_stress_results
from ensemble.storage.atomic_files import write_json
from tests.comparison.drawn import finished
from tests.pages import stressed
from tests.report.pages import Page

# What ends a text, an attribute in either quotes, a script; `zz` is in nothing else.
HOSTILE = """"zz" onx="zz" 'zz' <b>zz</b> </p></script> &lt;zz {zz}"""
ATTRIBUTES = {
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "aria-pressed",
    "charset",
    "class",
    "content",
    "data-bytes",
    "data-figure",
    "data-run",
    "data-sha256",
    "data-version",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "role",
    "scope",
    "style",
    "tabindex",
    "type",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Page]]:
    """The report of a run, and that of two, in which all that people name is named so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("hostile")))
        names = tuple(f"{HOSTILE} {label}" for label in range(10))
        entry = registry.ENTRIES["digits"]
        entry = dataclasses.replace(entry, class_names=names, title=HOSTILE)
        digits = dataclasses.replace(datasets.load_dataset("digits"), class_names=names)
        patch.setitem(registry.ENTRIES, "digits", entry)
        patch.setattr(datasets, "load_digits", lambda: digits)
        patch.setattr(stressed, "OOD", {"noise": HOSTILE})
        yield Page(render_report([named_run(0)])), Page(render_report([named_run(1), named_run(2)]))


def named_run(draw: int) -> runs.Run:
    """A run with a hostile name, note and machine, measured on hostile images."""
    run = finished({"members": 2}, epochs=1, skill=float(1 + draw), draw=draw)
    runs.rename_run(run.id, HOSTILE)
    write_run_note(run.id, HOSTILE)
    write_json(
        run.path / "devices.json", {"platform": HOSTILE, "cores": HOSTILE, "devices": [{"id": 0, "kind": HOSTILE}]}
    )
    results = stressed.measured(run, epoch=1)
    write_stress_results(run.path, dataclasses.replace(results, steps=[]))
    return runs.find_run(run.id)


@pytest.mark.parametrize("place", [0, 1], ids=["one run", "two runs"])
def test_no_word_of_anybody_is_an_element_or_an_attribute(pages: tuple[Page, Page], place: int) -> None:
    page = pages[place]
    assert page.all("b") == []
    assert {name for one in page.elements for name in one.attributes} <= ATTRIBUTES


def test_every_word_is_read_letter_by_letter(pages: tuple[Page, Page]) -> None:
    one, two = pages
    for tag in ("title", "h1", "summary", "th", "dd", "figcaption", "strong", "span"):
        assert any(HOSTILE in found.text for found in one.all(tag)), tag
    for name in ("about", "image", "wide", "plot"):
        labels = [found.text or found.attributes.get("aria-label") for found in one.by_class(name)]
        assert any(HOSTILE in str(label) for label in labels), name
    for tag in ("h2", "a", "th"):
        assert any(HOSTILE in found.text for found in two.all(tag)), tag


@pytest.mark.parametrize("place", [0, 1], ids=["one run", "two runs"])
def test_figures_show_words_as_they_are(pages: tuple[Page, Page], place: int) -> None:
    """Plotly reads a few tags of HTML."""
    ahead: list[object] = [one["figure"] for one in pages[place].figures]
    said = []
    while ahead:
        one = ahead.pop()
        if isinstance(one, str):
            said.append(one)
        elif isinstance(one, dict | list):
            ahead += one.values() if isinstance(one, dict) else one
    assert any("zz" in one for one in said)
    assert not [one for one in said if "<b>zz" in one]
