"""Predictions made elsewhere, handed in on Runs: understood before they are kept, or refused."""

import io

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.exchange import SNIPPETS
from ensemble.wording.escaping import strip_markdown
from tests.conftest import REPO
from tests.exchange.given import LABELS, LOGITS, PROBABILITIES, M, N


def packed(**arrays: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)  # type: ignore[arg-type]
    return held.getvalue()


def open_dialog() -> AppTest:
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    return at.button(key="import_open").click().run()


def handed_in(content: bytes, name: str = "forest.npz") -> AppTest:
    return hand_in(open_dialog(), content, name)


def hand_in(at: AppTest, content: bytes, name: str) -> AppTest:
    at.file_uploader(key="import_files").set_value((name, content, "")).run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.warning))


def test_it_is_shown_what_was_understood_and_then_kept() -> None:
    at = handed_in(packed(logits=LOGITS, labels=LABELS))
    right = (PROBABILITIES.mean(axis=0).argmax(axis=1) == LABELS).mean()
    assert f"{M} members · {N} examples · 4 classes · without images" in said(at)
    assert f"{100 * right:.0f}" in said(at)
    before = {run.id for run in runs.list_runs()}
    at.text_input(key="import_name").input("a forest")
    at.button(key="import_keep").click().run()
    (made,) = [run for run in runs.list_runs() if run.id not in before]
    assert (made.name, made.state) == ("a forest", "imported")
    assert np.abs(runs.read_run_predictions(made.id, 1) - PROBABILITIES).max() < 1e-6


def test_what_cannot_be_taken_is_said_with_the_entry_and_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(runs.list_runs())
    broken = PROBABILITIES.copy()
    broken[1, 7, 2] = np.nan
    sure = np.broadcast_to(np.eye(3, dtype=np.float32)[0], (30, 20_000, 3))
    large = packed(probabilities=sure, labels=np.zeros(20_000, np.int64))
    assert len(large) < 10**6
    monkeypatch.setenv("ENSEMBLE_MAX_IMPORT_MB", "1")
    at = open_dialog()
    for content, name, why in (
        (packed(probabilities=broken, labels=LABELS), "forest.npz", "7"),
        (b"<html><b>zz</b></html>", "page.html", "page.html: it is a web page without the data of a run"),
        (large, "large.npz", "unpacked, it takes"),
    ):
        text = said(hand_in(at, content, name))
        assert why in text
        assert not [one for one in at.button if one.key == "import_keep"]
    assert "may take at most 8 MB" in text
    assert len(runs.list_runs()) == before


def test_at_most_eight_class_names_are_listed() -> None:
    for classes, listed in ((8, "class_7."), (10, "class_7 and 2 more.")):
        names = np.array([f"class_{number}" for number in range(classes)])
        shares = np.full((2, 20, classes), 1 / classes, np.float32)
        at = handed_in(packed(probabilities=shares, labels=np.arange(20) % classes, class_names=names))
        assert " ".join(strip_markdown(said(at)).split()).count(listed) == 1, said(at)


def test_the_lines_for_a_library_are_shown() -> None:
    at = open_dialog()
    at.segmented_control(key="import_library").set_value(SNIPPETS[-1].library).run()
    assert at.code[0].value == SNIPPETS[-1].code.strip()


def test_labels_that_fit_two_readings_are_said_and_can_be_read_the_other_way() -> None:
    answers = PROBABILITIES.mean(axis=0).argmax(axis=1)
    content = packed(logits=LOGITS, labels=answers, class_names=np.array([3, 2, 1, 0]))
    at = handed_in(content)
    assert "as names of classes" in said(at)
    (control,) = [one for one in at.segmented_control if one.label == "Read labels as"]
    assert control.value == "positions"
    control.set_value("names").run()
    assert not at.exception
    (control,) = [one for one in at.segmented_control if one.label == "Read labels as"]
    assert control.value == "names"
    assert "Labels were read as names of classes" in said(at)
    assert "begins at 1" in said(hand_in(at, packed(logits=LOGITS, labels=answers + 1), "from_1.npz"))
    (control,) = [one for one in at.segmented_control if one.label == "Read labels as"]
    control.set_value("from-1").run()
    assert "100" in said(at)
    assert [one for one in at.button if one.key == "import_keep"]


@pytest.mark.parametrize("names", ["mean;std;target", "logit_a;logit_b;label"])
def test_numbers_with_two_readings_are_asked_about(names: str) -> None:
    rows = "\n".join(
        f"{n % 2 + 1},{100 + n};{n % 2 + 1},{200 + n};" + ("ab"[n % 2] if "label" in names else f"{n}")
        for n in range(20)
    )
    at = handed_in(f"{names}\n{rows}".encode(), "theirs.csv")
    assert "can be read in two ways: “1,100” is 1100" in said(at)
    assert "--decimal" not in said(at)
    assert not [one for one in at.button if one.key == "import_keep"]
    (sign,) = [one for one in at.segmented_control if one.label == "Decimal sign"]
    sign.set_value("comma").run()
    assert "Numbers are read with a decimal comma." in said(at)
    assert [one for one in at.button if one.key == "import_keep"]
