"""Weights that were rounded to float16 on their way: half as large, and marked for ever after."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.errors import PredictionsError, RunError
from ensemble.exchange import capsule
from ensemble.exchange.capsule import packing
from ensemble.exchange.capsule.capsule_summary import describe_capsule_contents
from ensemble.runs.parameters import read_parameters, write_parameters
from ensemble.wording.run_names import describe_run_origin
from tests.exchange.capsule.pages import changed, page_of, payload_of, taken_apart, uploaded
from tests.pages.members import askable


@pytest.fixture
def run() -> runs.Run:
    return askable(members=2, epochs=1)


def rounded_page(run: runs.Run) -> str:
    return page_of(*capsule.render_run_capsules([run], with_members=True, weights="float16"))


def test_kernels_come_back_as_the_nearest_float16_and_all_else_to_the_bit(run: runs.Run) -> None:
    (found,) = capsule.read_report_capsules(uploaded(rounded_page(run)))
    again = capsule.import_capsule(found)
    before, after = read_parameters(run.id, 1), read_parameters(again.id, 1)
    for layer, arrays in before.items():
        kernel = np.asarray(arrays["kernel"])
        assert np.array_equal(after[layer]["kernel"], kernel.astype(np.float16).astype(np.float32))
        assert not np.array_equal(after[layer]["kernel"], kernel)
        assert np.array_equal(after[layer]["bias"], arrays["bias"])
    probabilities = runs.read_run_predictions(run.id, 1)
    assert runs.read_run_predictions(again.id, 1).tobytes() == probabilities.tobytes()


def test_it_is_half_as_large(run: runs.Run) -> None:
    sizes = [
        len(payload_of(page_of(*capsule.render_run_capsules([run], **how))))  # type: ignore[arg-type]
        for how in ({}, {"with_members": True}, {"with_members": True, "weights": "float16"})
    ]
    assert 0.4 < (sizes[2] - sizes[0]) / (sizes[1] - sizes[0]) < 0.6


def test_it_is_said_where_it_is_imported_and_stays_said(run: runs.Run, tmp_path: Path) -> None:
    (found,) = capsule.read_report_capsules(uploaded(rounded_page(run)))
    assert any("rounded to float16" in note for note in found.notes)
    assert "with its members, rounded to float16" in describe_capsule_contents(found)
    first = capsule.import_capsule(found)
    assert first.weights == "float16"
    assert describe_run_origin(first).endswith("its weights rounded to float16")
    path = tmp_path / "exact.html"
    path.write_text(page_of(*capsule.render_run_capsules([first], with_members=True)), "utf-8")
    called = CliRunner().invoke(main, ["import", str(path)])
    said = json.loads(called.stdout.splitlines()[-1])
    assert any("rounded to float16" in note for note in said["notes"])
    second = runs.find_run(said["run_id"])
    assert second.weights == "float16"
    for layer, arrays in read_parameters(first.id, 1).items():
        assert np.array_equal(read_parameters(second.id, 1)[layer]["kernel"], arrays["kernel"])


def test_exact_ones_say_nothing(run: runs.Run) -> None:
    page = page_of(*capsule.render_run_capsules([run], with_members=True))
    (found,) = capsule.read_report_capsules(uploaded(page))
    assert (found.has_rounded_weights, found.notes) == (False, ())
    assert capsule.import_capsule(found).weights == ""
    without = page_of(*capsule.render_run_capsules([run], weights="float16"))
    (bare,) = capsule.read_report_capsules(uploaded(without))
    assert (bare.header.weights, bare.notes) == ("", ())


def test_a_version_that_does_not_know_the_codec_asks_to_be_updated(
    run: runs.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = rounded_page(run)
    older = tuple(codec for codec in packing.CODECS if not codec.startswith(packing.HALF))
    monkeypatch.setattr("ensemble.exchange.capsule.capsule_reader.CODECS", older)
    with pytest.raises(PredictionsError, match=r"float16-shuffle-zlib\): update this program"):
        capsule.read_report_capsules(uploaded(page))


def test_a_report_of_before_says_nothing_of_weights_and_is_exact(run: runs.Run) -> None:
    page = page_of(*capsule.render_run_capsules([run], with_members=True))
    older = changed(page, lambda header: header.pop("weights"))
    assert "weights" not in taken_apart(payload_of(older))[0]
    assert capsule.read_report_capsules(uploaded(older))[0].notes == ()


def test_weights_too_large_for_it_are_refused_by_name(run: runs.Run) -> None:
    params = {
        layer: {name: np.array(array) for name, array in arrays.items()}
        for layer, arrays in read_parameters(run.id, 1).items()
    }
    params["Dense_1"]["kernel"][0, 0, 0] = 7e4
    write_parameters(run.path, 1, params, 1)
    with pytest.raises(RunError, match=r"weights Dense_1/kernel .* 65,504.* leave --weights out"):
        rounded_page(run)
