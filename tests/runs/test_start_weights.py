"""Members that start from given weights: which are taken, how, and that training starts there."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.cli.program import main
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.errors import ConfigError, RunError
from ensemble.runs.annotations.notes import read_run_note
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.start_weights import WEIGHTS_FILE, identify_start_weights, load_start_weights, match_start_weights
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training.start_state import create_start_state
from ensemble.wording.provenance import build_rerun_command

SHAPES = {"Dense_0/kernel": (784, 10), "Dense_0/bias": (10,)}
CONFIG = EnsembleConfig(network="logistic", members=4, epochs=1, batch_size=500)
RNG = np.random.default_rng(0)
ONE_SET = {name: RNG.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
OWN_SETS = {name: RNG.normal(size=(4, *shape)).astype("f4") for name, shape in SHAPES.items()}


@pytest.mark.parametrize("rename", ["{}", "params/{}", "params.{}"])
def test_names_are_the_network_s_own_whatever_stands_between_them(rename: str) -> None:
    given = {rename.format(name): array for name, array in ONE_SET.items()}
    if "." in rename:
        given = {name.replace("/", "."): array for name, array in given.items()}
    weights = match_start_weights(given, SHAPES, CONFIG, "w.npz")
    assert set(weights.arrays) == set(SHAPES)
    assert weights.notes[0] == ("2 of the network's 2 arrays start from w.npz, all members from one set.")
    assert "stay alike: tell them apart with --shuffle-per-member" in weights.notes[1]
    folded = match_start_weights(given, SHAPES, replace(CONFIG, folds=2), "w.npz")
    assert folded.notes[1].startswith("Labels are judged as if w.npz had learnt from none of the")


def test_a_set_for_each_member_is_told_by_its_axis_and_the_rest_is_drawn() -> None:
    given = {"Dense_0/kernel": OWN_SETS["Dense_0/kernel"], "head": np.zeros(3)}
    weights = match_start_weights(given, SHAPES, CONFIG, "w.npz")
    assert weights.notes == (
        "1 of the network's 2 arrays start from w.npz, each of the 4 members from its own set.",
        "Dense_0/bias: not in w.npz, and drawn as usual.",
        "head of w.npz: of no such name here, and left out.",
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"Dense_0/bias": np.zeros((3, 10))}, "is of 3 members, and the run has 4: set members"),
        ({"Dense_0/bias": np.zeros(9)}, r"has the shape \(9,\), and the network needs \(10,\)"),
        ({"Dense_0/bias": np.full(10, np.nan)}, "holds a number that is not finite"),
        ({"Dense_0/bias": np.array(["a"] * 10)}, "holds no numbers"),
        ({"fc.weight": np.zeros((10, 784))}, r"fc.weight\) has a name of this .* PyTorch's"),
        ({"Dense_0/bias": np.zeros(10), "Dense_0.bias": np.zeros(10)}, "Dense_0/bias twice"),
        ({}, "holds no arrays"),
    ],
)
def test_what_does_not_fit_is_one_sentence(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        match_start_weights(given, SHAPES, CONFIG, "w.npz")


@pytest.mark.parametrize("groups", [1, 2])
def test_members_and_groups_of_them_begin_with_what_was_given(groups: int) -> None:
    config = EnsembleConfig(**{**CONFIG.as_dict(), "groups": groups})
    given = {"Dense_0/kernel": OWN_SETS["Dense_0/kernel"]}
    weights = match_start_weights(given, SHAPES, config, "w.npz")
    run = runs.create_run(config, start=weights)
    parts = list_run_groups(run) if groups > 1 else [run]
    for part in parts:
        numbers = part.member_numbers
        trainer = Trainer(config, load_run_dataset(run), jax.devices()[:1], numbers=numbers)
        state = create_start_state(part, trainer)
        blank = trainer.create_blank_state()
        assert jax.tree.structure(state) == jax.tree.structure(blank)
        jax.tree.map(lambda a, b: np.testing.assert_equal(a.shape, b.shape), state, blank)
        kernel = state.params["Dense_0"]["kernel"]
        np.testing.assert_array_equal(kernel, OWN_SETS["Dense_0/kernel"][list(numbers)])
        own = trainer.get(trainer.init_members()).params["Dense_0"]["bias"]
        np.testing.assert_array_equal(state.params["Dense_0"]["bias"], own)
    (run.path / WEIGHTS_FILE).write_bytes(b"PK")
    with pytest.raises(RunError, match="train it anew from the file"):
        create_start_state(parts[0], trainer)


@pytest.mark.long_cases
@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_from_a_file_on_the_command_line(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from tests.storage.arrays.test_safetensors import write

    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    path = tmp_path / f"weights.{kind}"
    if kind == "npz":
        np.savez(path, **OWN_SETS)
    else:
        write(path, {n.replace("/", "."): ("F32", list(a.shape), a.tobytes()) for n, a in OWN_SETS.items()})
    # Steps so small that parameters stay where they began, to float32's digits.
    options = ("--network", "logistic", "--epochs", "1", "--learning-rate", "0.00001")
    done = CliRunner().invoke(main, ("train", *options, "--from", str(path)))
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("2 of the network's 2 arrays start from weights.")
    run_id = json.loads(done.stdout)["run_id"]
    from ensemble.runs.parameters import read_parameters

    kept = read_parameters(run_id, 1)["Dense_0"]["kernel"]
    np.testing.assert_allclose(kept, OWN_SETS["Dense_0/kernel"], atol=0.01)
    refused = CliRunner().invoke(main, ("train", *options, "--from", str(tmp_path / "none.npz")))
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert len(list((tmp_path / "runs").glob("digits-*"))) == 1


@pytest.mark.long
def test_from_a_nested_tree_in_python_with_the_names_of_a_probe() -> None:
    tree = {"params": {"Dense_0": {"kernel": ONE_SET["Dense_0/kernel"]}}}
    weights = load_start_weights(tree, CONFIG)
    np.testing.assert_array_equal(weights.arrays["Dense_0/kernel"], ONE_SET["Dense_0/kernel"])
    assert weights.notes[1] == "Dense_0/bias: not in what was given, and drawn as usual."


def test_a_run_that_was_given_weights_is_not_taken_for_its_settings_alone(tmp_path: Path) -> None:
    drawn = runs.create_run(CONFIG)
    given = [
        runs.create_run(CONFIG, start=match_start_weights(sets, SHAPES, CONFIG, "w.npz"))
        for sets in (ONE_SET, OWN_SETS)
    ]
    digests = [identify_start_weights(run.path) for run in (drawn, *given)]
    assert digests[0] == ""
    assert len(set(digests)) == 3
    groups = group_runs([drawn, *given])
    assert len(groups) == 3
    titles = " ".join(group.title for group in groups)
    assert f"start weights given ({digests[1]})" in titles
    assert "all members from one set" in read_run_note(given[0])
    assert build_rerun_command(given[0]).endswith(f"--from {WEIGHTS_FILE}")
    assert "--from" not in build_rerun_command(drawn)
