"""A run that is written and taken in again is the same run, to every figure there is of it."""

import dataclasses
import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import exchange, runs
from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.cli.program import main
from ensemble.errors import PredictionsError, RunError
from tests.conftest import REPO
from tests.exchange.given import LABELS, PROBABILITIES, saved
from tests.pages.ensembles import trained

LEAST = 60  # functions of figures that the walk has to come by
# Of plain numbers, whose names mean something else there: no predictions go in.
OTHERS = ("inference.poisson_binomial.", "members.committee.by_size", "members.subsets.")


# What a name means in some of them: the ensemble's probabilities, each member's right answers.
ELSEWHERE = {
    "quality.summary.": {"probabilities": "averaged"},
    "quality.temperature.fit": {"probabilities": "averaged"},
    "diversity.q_statistic": {"right": "members_right"},
    "diversity.double_fault": {"right": "members_right"},
}


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    for path in sorted((REPO / "ensemble" / "analysis").rglob("*.py")):
        if path.stem != "__init__":
            module = ".".join(path.relative_to(REPO).with_suffix("").parts)
            for name, found in vars(importlib.import_module(module)).items():
                own = inspect.isfunction(found) and found.__module__ == module
                if own and not name.startswith("_"):
                    yield f"{module}.{name}", found


def known_of(run: runs.Run, epoch: int) -> dict[str, Any]:
    """What a function of figures may ask for, by the name that it has in all of them."""
    labels = runs.load_test_set(run).labels
    made = evaluate_predictions(runs.read_run_predictions(run.id, epoch), labels)
    return {
        **{field.name: getattr(made, field.name) for field in dataclasses.fields(made)},
        "made": made,
        "right": made.right,
        "members_right": made.votes == labels,
        "distributions": made.averaged,
        "hits": made.right,
        "others": made.votes[0] == labels,
        "saved": made.confidence - made.confidence.mean(),
        "ours": made.averaged,
        "theirs": made.probabilities[0],
        "values": made.confidence,
        "rows": made.probabilities[:, :, 0].astype(float),
        "unknown": made.confidence[::2],
        "known": made.confidence,
        "scores": made.confidence,
        "classes": made.averaged.shape[1],
        "numbers": np.arange(len(labels)),
        "error_rate": 0.1,
        "temperature": 1.5,
        "size": 2,
        "figure": "nll",
        "judged": evaluate_committees(made.probabilities, labels),
    }


def leaves(value: Any) -> list[Any]:
    """All numbers in whatever a function returns."""
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in leaves(one)]
    if isinstance(value, np.ndarray) or np.isscalar(value):
        return [] if isinstance(value, str) else [value]
    return []


def test_every_figure_of_a_run_is_the_same_after_a_way_out_and_in(tmp_path: Path) -> None:
    run = trained(members=3, epochs=1)
    exchange.export_run(run.id, tmp_path / "a.npz")
    again = exchange.import_run(exchange.read_prediction_files([tmp_path / "a.npz"]))
    before, after = known_of(run, 1), known_of(again, 1)
    walked = []
    for name, function in public():
        wanted = [one.name for one in inspect.signature(function).parameters.values() if one.default is one.empty]
        if not set(wanted) <= set(before) or any(one in name for one in OTHERS):
            continue
        for place, words in ELSEWHERE.items():
            wanted = [words.get(one, one) for one in wanted] if place in name else wanted
        try:
            function(*(before[one] for one in wanted))
        except (IndexError, TypeError, ValueError):
            continue  # a name may mean another shape there: enough others are walked
        said = [leaves(function(*(known[one] for one in wanted))) for known in (before, after)]
        assert len(said[0]) == len(said[1])
        for one, other in zip(*said, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12, err_msg=name)
        walked.append(name)
    assert len(walked) >= LEAST, walked
    assert again.data.class_names == run.data.class_names
    np.testing.assert_array_equal(runs.load_test_set(again).images, runs.load_test_set(run).images)


def test_every_epoch_goes_out_and_comes_in(tmp_path: Path) -> None:
    run = trained(members=2, epochs=3)
    made = exchange.export_run(run.id, tmp_path / "a.npz", all_epochs=True, images=False)
    assert (made.epochs, made.shape[:2], made.images) == ((1, 2, 3), (3, 2), False)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert set(file) == {"probabilities", "labels", "class_names", "member_names", "split", "noun"}
        assert str(file["split"]) == "test"
        for epoch in made.epochs:
            wanted = runs.read_run_predictions(run.id, epoch)
            np.testing.assert_array_equal(file["probabilities"][epoch - 1], wanted)
    again = exchange.import_run(exchange.read_prediction_files([tmp_path / "a.npz"]), "again", "a.npz")
    assert runs.list_prediction_epochs(again.id) == [1, 2, 3]
    assert runs.load_test_set(again).images is None
    assert (again.name, again.state) == ("again", "imported")


def test_names_and_the_split_go_out_as_they_came_in(tmp_path: Path) -> None:
    names = {"class_names": list("wxyz"), "member_names": ["a", "b", "c"], "split": "validation"}
    given = saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS, **names)
    run = exchange.import_run(exchange.read_prediction_files([given]))
    exchange.export_run(run.id, tmp_path / "b.npz", epoch=1)
    found = exchange.read_prediction_files([tmp_path / "b.npz"])
    assert found.class_names == tuple("wxyz")
    assert found.member_names == ("a", "b", "c")
    assert found.split == "validation"


def test_what_cannot_be_written_is_said_and_nothing_is_replaced(tmp_path: Path) -> None:
    run = trained(members=1, epochs=1)
    (tmp_path / "a.npz").write_bytes(b"mine")
    with pytest.raises(PredictionsError, match=r"already exists.*--force"):
        exchange.export_run(run.id, tmp_path / "a.npz")
    assert (tmp_path / "a.npz").read_bytes() == b"mine"
    exchange.export_run(run.id, tmp_path / "a.npz", replace=True)
    with pytest.raises(PredictionsError, match="cannot be written"):
        exchange.export_run(run.id, tmp_path / "none" / "a.npz")
    with pytest.raises(RunError, match="no predictions of epoch 7"):
        exchange.export_run(run.id, tmp_path / "b.npz", epoch=7)
    with pytest.raises(RunError, match="at most 80"):
        exchange.import_run(exchange.read_prediction_files([tmp_path / "a.npz"]), "x" * 81)


def test_commands_end_with_one_object(tmp_path: Path) -> None:
    given = saved(tmp_path, probs=PROBABILITIES, labels=LABELS)
    words = ["import", str(given), "--name", "theirs"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout.splitlines()[-1])
    run = runs.find_run(said["run_id"])
    assert (run.name, said["state"], said["members"]) == ("theirs", "imported", 3)
    right = (PROBABILITIES.mean(axis=0).argmax(axis=1) == LABELS).mean()
    assert said["ensemble_test_accuracy"] == pytest.approx(right)
    assert said["notes"] == ["`probs` was read as `probabilities`."]
    assert said["notes"][0] in done.stderr
    out = tmp_path / "out.npz"
    done = CliRunner().invoke(main, ["export", run.id, str(out)])
    assert json.loads(done.stdout.splitlines()[-1])["shape"] == [3, 40, 4]
    done = CliRunner().invoke(main, ["export", run.id, str(out)])
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    (tmp_path / "odd").write_bytes(b"?")
    done = CliRunner().invoke(main, ["import", str(tmp_path / "odd")])
    assert (done.exit_code, f"Error: {json.loads(done.stdout)['error']}\n") == (1, done.stderr)
    assert done.stderr.count("\n") == 1


def test_what_an_example_is_called_goes_out_and_comes_in_again(tmp_path: Path) -> None:
    saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS)
    call = ["import", str(tmp_path / "a.npz"), "--noun", "review"]
    done = CliRunner().invoke(main, call, catch_exceptions=False)
    run = runs.find_run(json.loads(done.output.splitlines()[-1])["run_id"])
    assert run.data.noun == "review"
    exchange.export_run(run.id, tmp_path / "b.npz")
    outputs = exchange.read_prediction_files([tmp_path / "b.npz"])
    assert outputs.noun == "review"
    assert exchange.import_run(outputs).data.noun == "review"
    assert exchange.import_run(outputs, noun="two words").data.noun == "two words"
    with pytest.raises(PredictionsError, match="is not a word"):
        exchange.import_run(outputs, noun="<b>")
    saved(tmp_path, "c.npz", probabilities=PROBABILITIES, labels=LABELS, noun=["a", "b"])
    with pytest.raises(PredictionsError, match="`noun` is not one word"):
        exchange.read_prediction_files([tmp_path / "c.npz"])
