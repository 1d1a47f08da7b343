"""Predictions made elsewhere, handed in on Runs: understood before they are kept, or refused."""

import io

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.exchange import SNIPPETS
from tests.conftest import REPO
from tests.exchange.given import LABELS, LOGITS, PROBABILITIES, M, N


def packed(**arrays: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.savez(held, **arrays)  # type: ignore[arg-type]
    return held.getvalue()


def handed_in(content: bytes, name: str = "forest.npz") -> AppTest:
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    at.button(key="import_open").click().run()
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


def test_what_cannot_be_taken_is_said_with_the_entry_and_nothing_is_made() -> None:
    before = len(runs.list_runs())
    broken = PROBABILITIES.copy()
    broken[1, 7, 2] = np.nan
    assert "7" in said(at := handed_in(packed(probabilities=broken, labels=LABELS)))
    assert not [one for one in at.button if one.key == "import_keep"]
    assert len(runs.list_runs()) == before


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_a_small_upload_that_takes_much_once_unpacked_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_MAX_IMPORT_MB", "1")
    held, labels = io.BytesIO(), np.zeros(20_000, np.int64)
    if kind == "npz":
        sure = np.broadcast_to(np.eye(3, dtype=np.float32)[0], (30, 20_000, 3))
        np.savez_compressed(held, probabilities=sure, labels=labels)
    else:
        columns = {f"p_{c}": np.full(20_000, 0.02, np.float32) for c in range(50)}
        pd.DataFrame({"label": labels, **columns}).to_parquet(held)
    content = held.getvalue()
    assert len(content) < 10**6
    text = said(handed_in(content, f"a.{kind}"))
    assert "unpacked, it takes" in text
    assert "may take at most 8 MB" in text


@pytest.mark.parametrize("library", [one.library for one in SNIPPETS])
def test_the_lines_for_a_library_are_shown(library: str) -> None:
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    at.button(key="import_open").click().run()
    at.segmented_control(key="import_library").set_value(library).run()
    assert "np.savez" in at.code[0].value


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
    refused = handed_in(packed(logits=LOGITS, labels=answers + 1), "from_1.npz")
    assert "begins at 1" in said(refused)
    (control,) = [one for one in refused.segmented_control if one.label == "Read labels as"]
    control.set_value("from-1").run()
    assert "100" in said(refused)
    assert [one for one in refused.button if one.key == "import_keep"]
