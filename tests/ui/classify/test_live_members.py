"""Members as a browser takes them: what goes along, of which runs, and what they reject."""

import json
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ensemble.errors import RunError
from ensemble.exchange.capsule import capsule_format, capsule_writer
from ensemble.report import page_assets
from ensemble.report.page_classifier import describe_page_members
from ensemble.runs import Run
from ensemble.runs.parameters import read_parameters
from ensemble.ui.classify.answer import live_answer
from ensemble.ui.classify.input import classifier_loader, live_members
from tests.pages.ensembles import trained
from tests.pages.members import askable


@pytest.fixture
def run() -> Run:
    return askable(members=2, epochs=2)


def read_payload(payload: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of what is sent, by their names, unpacked by hand."""
    begin = len(capsule_format.MAGIC) + capsule_format.LENGTH_BYTES
    length = int.from_bytes(payload[len(capsule_format.MAGIC) : begin], "little")
    header, at, arrays = json.loads(payload[begin : begin + length]), begin + length, {}
    assert list(header) == ["parts"], "nothing else of the run goes along"
    for part in header["parts"]:
        assert part["codec"] == "raw"
        packed = payload[at : at + part["length"]]
        arrays[part["name"]] = np.frombuffer(packed, part["dtype"]).reshape(part["shape"])
        at += part["length"]
    assert at == len(payload)
    return arrays


def test_the_members_of_one_epoch_go_along_and_nothing_else(run: Run) -> None:
    members = live_members.find_live_members(run, 1)
    assert members
    arrays, kept = read_payload(members.payload), read_parameters(run.id, 1)
    assert set(arrays) == {f"parameters/epoch-0001/{layer}/{name}" for layer in kept for name in kept[layer]}
    for layer, leaves in kept.items():
        for name, leaf in leaves.items():
            assert np.array_equal(arrays[f"parameters/epoch-0001/{layer}/{name}"], leaf)
    assert members.classifier == describe_page_members(run, 1, members.classifier.title, None)
    assert not members.rounded
    later = live_members.find_live_members(run, 2)
    assert later
    assert later.payload != members.payload


def test_larger_ensembles_are_rounded_and_the_largest_stay_on_the_server(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = live_members.find_live_members(run, 1)
    assert exact
    monkeypatch.setattr(live_members, "MAX_EXACT_BYTES", 1000)
    live_members._load_live_members.clear()
    rounded = live_members.find_live_members(run, 1)
    assert rounded
    assert rounded.rounded
    assert len(rounded.payload) < 0.6 * len(exact.payload)
    monkeypatch.setattr(live_members, "MAX_BYTES", 1000)
    live_members._load_live_members.clear()
    assert live_members.find_live_members(run, 1) is None
    live_members._load_live_members.clear()


def test_runs_without_members_or_with_a_network_of_ones_own_are_answered_by_the_server() -> None:
    assert live_members.find_live_members(trained(members=2, epochs=1), 1) is None
    own = askable(members=2, epochs=1)
    assert live_members.find_live_members(own, 2) is None, "no epoch that is kept"


def test_a_damaged_file_is_left_to_the_server_to_tell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise RunError("The parameters of epoch 1 are damaged.")

    monkeypatch.setattr(live_members, "build_member_payload", fail)
    live_members._load_live_members.clear()
    assert live_members.find_live_members(run, 1) is None


@pytest.mark.long
def test_what_is_rejected_goes_along_once_the_server_knows_it(run: Run) -> None:
    assert live_members.build_live_rejection(run, None, 0.05) is None
    classifier = classifier_loader.wait_for_classifier(run, 2)
    assert classifier.is_calibrated
    told = live_members.build_live_rejection(run, classifier, 0.2)
    measure, threshold = classifier.compute_answer_threshold(0.2)
    assert told
    assert (told["measure"], told["threshold"]) == (measure, threshold)
    assert "20 %" in told["note"]


def test_the_component_has_every_element_that_its_scripts_ask_for() -> None:
    scripts = page_assets.join_scripts(("member_answer.js",))
    named = set(re.findall(r"find\(['\"](\w[\w-]*)['\"]\)", scripts))
    page = live_answer.HTML.format(answer=page_assets.read_static_file("answer.html"))
    assert named
    assert all(f'id="try-{name}"' in page for name in named)


def test_a_payload_is_no_capsule_that_could_be_imported(run: Run) -> None:
    payload = capsule_writer.build_member_payload(run, 1)
    assert b'"settings"' not in payload
    assert run.id.encode() not in payload
