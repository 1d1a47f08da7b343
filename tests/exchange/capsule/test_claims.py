"""What any report claims beyond its form: no job in it works, and all its words can be shown."""

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import datasets, runs, shift
from ensemble.engine import compute_activations
from ensemble.errors import PredictionsError, RunError
from ensemble.jobs import queue
from ensemble.storage.folders import runs_folder
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.iteration import iterate_parts
from ensemble.views.parts import Figures
from ensemble.views.shift import build_shift
from tests.exchange.capsule.pages import Header, changed, taken, with_parts, written
from tests.pages import stressed
from tests.pages.ensembles import trained
from tests.pages.members import askable
from tests.runs.test_imported_run import imported

RESULTS, STATUS = "shift/results", "shift/status"
HUGE = np.finfo(np.float32).max


@pytest.fixture
def page(tmp_path: Path) -> str:
    """A report of a run that was measured under shift."""
    run = trained(members=2)
    stressed.measured(run)
    return written(tmp_path, run).read_text("utf-8")


def with_json(page: str, name: str, change: Callable[[Any], Any]) -> str:
    """The page with the JSON of one part changed in place."""

    def put(part: str, content: bytes) -> bytes:
        if part != name:
            return content
        value = json.loads(content)
        change(value)
        return json.dumps(value).encode()

    return with_parts(page, put)


def refused(text: str) -> str:
    """Why a page is refused, before anything of it is written."""
    there = sorted(runs_folder().iterdir())
    with pytest.raises(PredictionsError) as raised:
        taken(text)
    assert sorted(runs_folder().iterdir()) == there
    return str(raised.value)


@pytest.mark.parametrize(
    "said",
    [
        {"state": "measuring", "pid": os.getpid(), "host": socket.gethostname()},
        {"state": "measuring", "pid": 1, "host": "another"},
        {"state": "starting", "pid": None},
        {"state": "queued", "queued": 1.0, "pid": None},
    ],
)
def test_measuring_that_a_report_says_goes_on_is_at_rest_here(page: str, said: dict[str, Any]) -> None:
    def change(status: dict[str, Any]) -> None:
        status |= {"pid_ticks": None, "updated": time.time(), **said}

    run = taken(with_json(page, STATUS, change))
    found = shift.read_stress(run.id)
    assert (found.state, found.active, queue.list_queued_jobs()) == ("stopped", False, [])
    assert "written while this run was being measured" in found.message
    assert (found.status.pid, found.status.host) == (None, "")  # type: ignore[union-attr]
    runs.delete_run(run.id)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"dataset": "nowhere"}, "another dataset"),
        ({"images": 501}, "more images"),
        ({"epoch": 3}, "more images or epochs"),
        ({"side": 2000}, "more images or epochs"),
    ],
)
def test_shift_that_was_measured_of_something_else_is_refused(page: str, said: dict[str, Any], why: str) -> None:
    text = with_json(page, RESULTS, lambda results: results.update(said))
    assert why in (found := refused(text)), found


def test_shift_on_more_sets_of_images_than_there_are_is_refused(page: str) -> None:
    twice = with_json(page, RESULTS, lambda said: said["outside"].append(said["outside"][0]))
    assert "twice" in refused(twice)
    long = with_json(page, RESULTS, lambda said: said["outside"][0].update(title="x" * 1000))
    assert "too long" in refused(long)
    assert "too large" in refused(
        with_parts(page, lambda name, content: content + b" " * 5_000_000 if name == RESULTS else content)
    )


def test_shift_of_a_dataset_that_is_not_here_can_be_reported(page: str) -> None:
    text = with_json(page, RESULTS, lambda results: results.update(dataset="leaves"))
    epoch = evaluate_epoch(taken(changed(text, own(title="Their leaves"))))
    parts = iterate_parts(build_shift(epoch))
    said = [one.alt for part in parts if isinstance(part, Figures) for one in part.all()]
    assert "Histograms of entropy: Their leaves against Smooth noise" in said


def own(**said: Any) -> Callable[[Header], None]:
    def change(header: Header) -> None:
        header["settings"]["dataset"] = said.get("name", "leaves")
        header["dataset"] |= {"name": "leaves", "own": True, **said}

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (own(title="x" * 81), "title"),
        (own(title="a\u202eb"), "title"),
        (own(title=""), "title"),
        (own(noun="n" * 81), "noun"),
        (own(source="x" * 10_000), "source"),
        (own(fingerprint="x" * 10_000), "fingerprint"),
        (own(name="../../etc"), "name"),
        (own(name="$(reboot)"), "name"),
        (own(class_names=["a"] * 10), "twice"),
        (own(class_names=[f"{n}" * (81 if n == 7 else 1) for n in range(10)]), "81 characters"),
        (own(class_names=["", *"abcdefghi"]), "empty"),
        (own(class_names=["\x1b[2J", *"abcdefghi"]), "cannot be shown"),
        (lambda header: header.update(packages={"p" * 1000: "1"}), "packages"),
        (lambda header: header.update(packages=dict.fromkeys(map(str, range(500)), "1")), "packages"),
    ],
)
def test_words_of_a_dataset_that_nobody_could_have_given_it_are_refused(
    tmp_path: Path, change: Callable[[Header], Any], why: str
) -> None:
    text = written(tmp_path, trained(members=1, epochs=1, done=0)).read_text("utf-8")
    taken(changed(text, own()))
    assert why in (found := refused(changed(text, change))), found


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda header: header["dataset"].update(own=False), "not marked as its own"),
        (lambda header: header["dataset"].update(class_names=["a"] * 3), "twice"),
        (lambda header: header.update(member_names=["same"] * 2), "twice"),
        (lambda header: header.update(member_names=["a", "b\u2066"]), "cannot be shown"),
    ],
)
def test_predictions_from_elsewhere_that_could_not_be_opened_are_refused(
    tmp_path: Path, change: Callable[[Header], Any], why: str
) -> None:
    text = written(tmp_path, imported()).read_text("utf-8")
    assert why in (found := refused(changed(text, change))), found


@pytest.mark.parametrize(
    ("said", "taken_in"),
    [
        ({"set_aside": {"0": 3}}, True),
        ({"set_aside": {"1": 3}}, True),
        ({"set_aside": {"2": 3}}, False),
        ({"set_aside": {"9": 3}}, False),
        ({"set_aside": {"1": 3, "2": 3}}, False),
        ({"member_test_accuracy": []}, True),
        ({"member_test_accuracy": [0.5]}, False),
        ({"member_test_accuracy": [0.5] * 3}, False),
        ({"epoch": 3}, False),
        ({"epoch": 2}, True),
        ({"best_epoch": 2}, True),
        ({"best_epoch": 3}, False),
        ({"epochs": 3}, False),
        ({"best_on": "validation"}, True),
        ({"best_on": "training"}, False),
    ],
)
def test_a_status_is_of_the_members_and_epochs_that_there_are(
    tmp_path: Path, said: dict[str, Any], taken_in: bool
) -> None:
    """Members are numbered from 0: of two there is no member 2 to be set aside."""
    text = written(tmp_path, trained(members=2, epochs=2, done=0)).read_text("utf-8")
    text = changed(text, lambda header: header["status"].update(said))
    if taken_in:
        assert taken(text).config.members == 2
    else:
        assert "its status has other members or epochs" in refused(text)


def test_a_message_is_as_long_as_messages_are(tmp_path: Path) -> None:
    run = trained(members=1, epochs=1, done=0, state="failed", message="Ended. " * 10_000)
    text = written(tmp_path, run).read_text("utf-8")
    assert len(taken(text).message) <= 4000


def test_members_that_give_no_numbers_are_refused_when_they_are_asked(tmp_path: Path) -> None:
    text = written(tmp_path, askable(members=1, epochs=1, network="logistic"), with_members=True).read_text("utf-8")
    run = taken(
        with_parts(
            text,
            lambda name, content: (
                np.full(len(content) // 4, HUGE, "<f4").tobytes() if name.startswith("parameters") else content
            ),
        )
    )
    members, images = runs.open_members(run.id), datasets.load_dataset("digits").test_images[:3]
    with pytest.raises(RunError, match="no finite numbers"):
        members.predict_probabilities(images)
    with pytest.raises(RunError, match="no finite numbers"):
        compute_activations(members.network, members.params, images[:1])
