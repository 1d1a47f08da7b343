"""A run's members asked about images, and their parameters, in a program of one's own."""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ensemble
from ensemble import runs
from ensemble.api.member_questions import OpenedMembers
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, PredictionsError, RunError
from ensemble.runs.parameters import load_run_network, write_parameters
from tests.conftest import REPO
from tests.pages.ensembles import trained

# What a program of somebody's own is like: JAX in double precision, on one device, or none at all.
STRANGE = """
import json, os, sys
import numpy as np
import ensemble
run = ensemble.open_run(sys.argv[1])
images = run.images[:5]
environment = dict(os.environ)
before = run.predict(images).probabilities
imported = "jax" in sys.modules
run.parameters(0)
from jax._src import xla_bridge
started = xla_bridge.backends_are_initialized()
import jax
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", 3)
assert len(jax.devices()) == 3
settings = dict(jax.config.values)
after = run.predict(images).probabilities
print(json.dumps({
    "imported": imported,
    "started": started,
    "environment": dict(os.environ) == environment,
    "settings": dict(jax.config.values) == settings,
    "devices": len(jax.devices()),
    "same": bool((before == after).all()),
}))
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder of runs with one that was really trained, and its id."""
    folder = tmp_path_factory.mktemp("asked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        config = EnsembleConfig(network="logistic", members=3, epochs=2, vary="learning_rate=0.02..0.2")
        return folder, runs.execute_run(runs.create_run(config).id).id


@pytest.fixture
def run(stored: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> ensemble.Run:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(stored[0]))
    opened = ensemble.open_run(stored[1])
    assert isinstance(opened, ensemble.Run)
    return opened


@pytest.fixture(scope="module")
def members(stored: tuple[Path, str]) -> Iterator[OpenedMembers]:
    """All its members, in one process for several tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(stored[0]))
        opened = ensemble.open_run(stored[1]).open_members()
    with opened:
        yield opened


def test_what_is_said_of_the_test_images_is_what_the_run_wrote_down(run: ensemble.Run) -> None:
    recorded = run.predictions()
    asked = run.predict(run.images, run.labels, batch_size=128)
    np.testing.assert_allclose(asked.probabilities, recorded.probabilities, atol=1e-6)
    assert asked.probabilities.dtype == np.float32
    assert asked.accuracy == recorded.accuracy
    assert asked.member_names == recorded.member_names
    assert asked.class_names == recorded.class_names
    assert asked.source == recorded.source


@pytest.mark.long
def test_some_members_are_asked_again_and_again_about_any_count(run: ensemble.Run) -> None:
    recorded = run.predictions(1)
    with run.open_members(members=[2, run.member_names[0]], epoch=1) as members:
        assert members.epoch == 1
        assert members.member_names == (run.member_names[2], run.member_names[0])
        for count, batch in ((1, 1024), (3, 2), (200, 64)):
            made = members.predict(run.images[:count], batch_size=batch)
            np.testing.assert_allclose(made.probabilities, recorded.probabilities[[2, 0], :count], atol=1e-6)
        # Of the same batch size the count changes no bit.
        many = members.predict(run.images[:200], batch_size=64).probabilities
        np.testing.assert_array_equal(many[:, 64:128], members.predict(run.images[64:128]).probabilities)
    with pytest.raises(RunError, match="have been closed: open them again"):
        members.predict(run.images[:1])


def test_without_labels_there_is_all_that_needs_none(run: ensemble.Run, members: OpenedMembers) -> None:
    made = members.predict(run.images[:40])
    known = members.predict(run.images[:40], run.labels[:40])
    assert isinstance(made, ensemble.Predictions)
    np.testing.assert_array_equal(made.averaged, known.averaged)
    np.testing.assert_array_equal(made.votes, known.votes)
    assert repr(made) == "<Predictions: 3 members, 40 digits, 10 classes; no labels>"
    assert "without labels" in made._repr_html_()
    table = made.to_frame()
    assert not {"label", "right", "set"} & set(table)
    assert table["said"].tolist() == [str(c) for c in known.said]
    fitted = made.to_frame(fit=run.predictions())
    assert (fitted["set_size"] >= 1).all()
    for ask in (
        lambda: made.accuracy,
        lambda: made.summary(),
        lambda: made.gain,
        lambda: made.right,
        lambda: made.committee_frame(),
        lambda: ensemble.figures.calibration(made),
    ):
        with pytest.raises(PredictionsError, match="came without labels"):
            ask()


def test_images_of_another_kind_are_taken_with_a_warning_or_refused(run: ensemble.Run, members: OpenedMembers) -> None:
    shown = run.images[:8]
    expected = members.predict(shown).probabilities
    with pytest.warns(UserWarning, match="ranged from 0 to 1"):
        scaled = members.predict(shown / 255.0)
    np.testing.assert_array_equal(scaled.probabilities, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = members.predict(shown.astype(np.int64))
    np.testing.assert_array_equal(whole.probabilities, expected)
    for images, sentence in (
        (np.zeros((2, 32, 32, 3), np.uint8), "32×32 pixels, in colour.*28×28 pixels, grey"),
        (np.zeros((28, 28), np.uint8), r"give \(examples, height, width\)"),
        (np.zeros((0, 28, 28), np.uint8), r"has the shape \(0, 28, 28, 1\)"),
        ([shown[0], np.zeros((3, 3))], "of different sizes"),
        (shown.astype(float) - 128, "before they are standardized"),
    ):
        with pytest.raises(PredictionsError, match=sentence):
            members.predict(images)
    with pytest.raises(ConfigError, match="batch_size is 0"):
        members.predict(shown, batch_size=0)
    # None of this has harmed it.
    np.testing.assert_array_equal(members.predict(shown).probabilities, expected)


def test_members_that_are_not_there_are_said(run: ensemble.Run) -> None:
    with pytest.raises(ConfigError, match="no member 3: name them by number, from 0 to 2"):
        run.predict(run.images[:1], members=[3])
    with pytest.raises(ConfigError, match="no member 'him'"):
        run.predict(run.images[:1], members=["him"])
    with pytest.raises(ConfigError, match="each once"):
        run.predict(run.images[:1], members=[1, 1])
    with pytest.raises(RunError, match="epoch 9"):
        run.predict(run.images[:1], epoch=9)
    without = trained(epochs=2)
    with pytest.raises(RunError, match="keeps no parameters of epoch 1 by themselves: choose one of another run"):
        ensemble.open_run(without.id).parameters(epoch=1)
    imported = ensemble.import_predictions([[[0.9, 0.1], [0.6, 0.4]]], [0, 1], images=np.zeros((2, 4, 4), np.uint8))
    with pytest.raises(RunError, match="was trained elsewhere"):
        imported.predict(np.zeros((1, 4, 4), np.uint8))
    with pytest.raises(RunError, match="was trained elsewhere"):
        imported.parameters()


def test_parameters_are_what_the_network_takes(run: ensemble.Run) -> None:
    one, every = run.parameters(1), run.parameters()
    np.testing.assert_array_equal(one["params"]["Dense_0"]["kernel"], every["params"]["Dense_0"]["kernel"][1])
    flat = run.images.reshape(len(run.images), -1) / np.float32(255)
    logits = flat @ one["params"]["Dense_0"]["kernel"] + one["params"]["Dense_0"]["bias"]
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        raised / raised.sum(axis=1, keepdims=True), run.predictions().probabilities[1], atol=1e-5
    )
    assert set(run.parameters(1, epoch=1)) == {"params"}


def test_a_network_s_other_collections_stand_beside_its_parameters() -> None:
    made = trained(network="resnet", members=1, epochs=1)
    shapes = load_run_network(made).shapes
    drawn = {name: np.ones((1, *shape.shape), np.float32) for name, shape in shapes.items()}
    write_parameters(made.path, 1, load_run_network(made).nest_arrays(drawn), best=1)
    variables = ensemble.open_run(made.id).parameters(0)
    assert set(variables) == {"params", "batch_stats"}
    assert variables["batch_stats"]
    assert not set(variables["batch_stats"]) - set(variables["params"])


@pytest.mark.long
def test_jax_of_the_program_that_asks_stays_as_it_is(run: ensemble.Run) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", STRANGE, run.id], capture_output=True, text=True, cwd=REPO, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "imported": False,
        "started": False,
        "environment": True,
        "settings": True,
        "devices": 3,
        "same": True,
    }


def test_a_process_that_ends_is_said_with_what_it_wrote(run: ensemble.Run, caplog: pytest.LogCaptureFixture) -> None:
    with run.open_members() as members:
        members._process._process.kill()
        members._process._process.wait()
        with pytest.raises(RunError, match=r"ended \(SIGKILL\)\. Give fewer images"):
            members.predict(run.images[:4])
    assert "process of a run's members ended" in caplog.text


@pytest.mark.long
def test_tables_are_the_figures_of_the_views(run: ensemble.Run) -> None:
    made = run.predictions()
    table = run.to_frame()
    assert table.index.tolist() == list(run.member_names)
    assert table["accuracy"].tolist() == [one.accuracy for one in made.qualities.members]
    assert {"nll", "brier", "ece"} <= set(table)
    examples = made.to_frame()
    assert len(examples) == len(made.labels)
    np.testing.assert_allclose(examples["entropy"], examples["aleatoric"] + examples["epistemic"], atol=1e-9)
    np.testing.assert_array_equal(examples["epistemic"], made.epistemic)
    assert examples["votes"][7] == tuple(str(vote) for vote in made.votes[:, 7])
    held = [label in chosen for label, chosen in zip(examples["label"], examples["set"], strict=True)]
    assert np.mean(held) > 0.9
    narrow = made.to_frame(0.3, "lac")["set_size"].mean()
    assert narrow < examples["set_size"].mean()
    committees = made.committee_frame()
    measured = committees[committees["what"] == "measured"]
    assert measured["size"].tolist() == [1, 2, 3]
    assert measured["accuracy_mean"].iloc[-1] == pytest.approx(made.accuracy)
    assert measured["accuracy_mean"].iloc[0] == pytest.approx(table["accuracy"].mean())
    with pytest.raises(ConfigError, match="rate is 2"):
        made.to_frame(2)
    with pytest.raises(ConfigError, match="method is 'x'"):
        made.to_frame(method="x")
    alone = ensemble.open_run(trained(members=1).id).predictions()
    with pytest.raises(ConfigError, match="two or more"):
        alone.committee_frame()
