"""A run in other programs' forms, from the page of runs."""

import functools
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.architectures import NETWORKS_VARIABLE
from ensemble.exchange import capsule
from ensemble.export import EXPORT_FORMATS
from ensemble.export.tensorboard_events import FILE_NAME
from ensemble.ui.runs import take_away
from tests.conftest import REPO
from tests.engine.networks import modules
from tests.export.drawn import create_drawn_run
from tests.export.test_trackers import create_run_with_history
from tests.pages.ensembles import trained


def open_run_panel(run: runs.Run) -> AppTest:
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=60)
    at.query_params["run"] = run.id
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    return at


def list_button_labels(at: AppTest) -> list[str]:
    return [one.proto.label for one in at.get("download_button")]


def test_a_run_with_members_is_offered_in_every_form() -> None:
    labels = list_button_labels(open_run_panel(create_drawn_run("logistic")))
    assert [one.title for one in EXPORT_FORMATS.values()] == [
        label for label in labels if label in {one.title for one in EXPORT_FORMATS.values()}
    ]


def test_what_cannot_be_had_says_why_and_the_rest_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as if it were not installed
    own = f"{modules.__name__}:Careful"
    monkeypatch.setenv(NETWORKS_VARIABLE, own)
    at = open_run_panel(create_drawn_run(own))
    buttons = {one.proto.label: one.proto for one in at.get("download_button")}
    disabled = {name: buttons[one.title].help for name, one in EXPORT_FORMATS.items() if buttons[one.title].disabled}
    assert disabled == {
        "onnx": "onnx takes the package onnxruntime, which is not installed here: "
        "pip install onnxruntime (the extra “export”)",
        "folder": "A network of your own cannot come along: take its weights.",
    }


@pytest.mark.long
def test_a_folder_is_saved_with_all_that_is_in_it() -> None:
    run = create_run_with_history()
    content = take_away.make_export_bytes(run.id, "tensorboard")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == [
            f"tensorboard/{who}/{FILE_NAME}" for who in ("ensemble", "member-1", "member-2", "member-3")
        ]


def test_a_run_without_members_is_offered_in_none() -> None:
    labels = list_button_labels(open_run_panel(trained()))
    assert "Save report" in labels
    assert not {one.title for one in EXPORT_FORMATS.values()} & set(labels)


@pytest.mark.long_cases
@pytest.mark.parametrize("name", ["npz", "folder"])
def test_the_files_are_those_of_the_command(name: str) -> None:
    run = create_drawn_run("logistic")
    content = take_away.make_export_bytes(run.id, name)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if name == "folder":
            assert "predict/predict.py" in archive.namelist()
            content = archive.read("predict/weights.npz")
    with np.load(io.BytesIO(content)) as file:
        kernel, bias = (file[f"members/1/params/Dense_0/{name}"] for name in ("kernel", "bias"))
    assert kernel.shape == (784, 10)
    flat = datasets.load_dataset("digits").test_images.reshape(500, -1) / np.float32(255)
    said = (flat @ kernel + bias).argmax(axis=1)
    np.testing.assert_array_equal(said, runs.read_run_predictions(run.id, 2)[1].argmax(axis=1))


@pytest.mark.long
def test_a_page_that_classifies_is_offered_and_holds_the_members(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    assert take_away.PAGE_TITLE in list_button_labels(open_run_panel(run))
    content = take_away.make_page_bytes(run.id)
    assert b"worker-src blob:" in content
    (tmp_path / "page.html").write_bytes(content)
    (found,) = capsule.read_report_capsules(tmp_path / "page.html")
    assert found.list_epochs("parameters")
    assert found.header.id == run.id


@pytest.mark.long_cases
@pytest.mark.parametrize(
    "make",
    [functools.partial(take_away.make_export_bytes, format_name="npz"), take_away.make_page_bytes],
    ids=["a file", "a page"],
)
def test_what_cannot_be_made_says_why(make: Callable[[str], bytes]) -> None:
    assert b"no run" in make("digits-0101-000000")
