"""The whole way on colour pictures of one's own: added, learnt by two networks, and compared with
a forest and a network that were made elsewhere. Everything is called as a person calls it."""

import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from PIL import Image
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from streamlit import config
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.cli.program import main
from tests.conftest import REPO
from tests.whole_way import CLASSES, MODULE, drawn, write

pytestmark = pytest.mark.usefixtures("two_devices_a_worker")

TRAIN, TEST = 48, 25  # of each fruit
QUICK = ("--devices", "1", "--members", "3", "--batch-size", "32", "--learning-rate", "0.02")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the pictures and a network of one's own beside them."""
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    monkeypatch.setattr(sys, "path", [*sys.path])  # what imports code of one's own adds to it
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "fruit", TRAIN, TEST)
    (tmp_path / "fruit_networks.py").write_text(MODULE)
    (tmp_path / "ensemble.toml").write_text('networks = ["fruit_networks:Small"]\n')
    return tmp_path


def command(*words: str | Path) -> Any:
    """What a command says last; a status other than 0 fails the test with all that it said."""
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == 0, done.output
    assert "digit" not in done.stderr
    return last(done.stdout)


def program(*words: str) -> Any:
    """The same, by a process of its own, as from a shell."""
    line = [sys.executable, "-m", "ensemble", *words]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "digit" not in done.stderr
    return last(done.stdout)


def last(said: str) -> Any:
    line = said.splitlines()[-1]
    return json.loads(line) if line.startswith("{") else line


@pytest.mark.long
def test_fruits_are_learnt_asked_stressed_and_compared_with_what_others_say(folder: Path) -> None:
    assert command("data", "add", "fruit", "fruit", "--noun", "fruit") == (
        "fruit has been added: 192 training images, 100 test images, 4 classes. Train with --dataset fruit."
    )
    train = ("train", "--dataset", "fruit", *QUICK)
    lenet = command(*train, "--network", "lenet5", "--epochs", "6")
    mine = program(*train, "--network", "fruit_networks:Small", "--epochs", "6")
    tests = exported(lenet, folder / "lenet.npz")
    own = exported(mine, folder / "mine.npz")
    np.testing.assert_array_equal(tests["images"], own["images"])
    they_are_the_pictures(tests)
    asked(mine, tests, own["probabilities"].mean(axis=0))

    stressed = command("stress", lenet["run_id"], "--limit", "40")
    assert stressed["images"] == 40
    assert len({step["kind"] for step in stressed["steps"]}) > 2

    forest = imported(forests(tests["images"]), tests, one_file)
    net = imported(softmaxes(tests["images"]), tests, one_file_a_member)
    again = command("import", "lenet.npz")
    for run in (lenet, again):  # to the bit, whoever says it
        kept = runs.read_run_predictions(run["run_id"], runs.list_prediction_epochs(run["run_id"])[-1])
        np.testing.assert_array_equal(kept, tests["probabilities"])
    compared(mine, {run["run_id"] for run in (lenet, forest, net, again)})


def exported(run: dict[str, Any], path: Path) -> dict[str, NDArray[Any]]:
    """The run's predictions as `export` gives them: they are what `train` said of itself."""
    command("export", run["run_id"], path)
    with np.load(path) as file:
        held = dict(file)
    assert held["class_names"].tolist() == list(CLASSES)
    judged(run, held["probabilities"], held["labels"])
    return held


def judged(run: dict[str, Any], said: NDArray[Any], labels: NDArray[Any]) -> None:
    """What a run says of itself is what scikit-learn says of these probabilities (M, N, C)."""
    averaged = said.astype(float).mean(axis=0)
    each = [accuracy_score(labels, one.argmax(axis=1)) for one in said]
    assert run["member_test_accuracy"] == pytest.approx(each, abs=1e-12)
    right = accuracy_score(labels, averaged.argmax(axis=1))
    assert run["ensemble_test_accuracy"] == pytest.approx(right, abs=1e-12)
    averaged /= averaged.sum(axis=1, keepdims=True)
    assert run["ensemble_test_nll"] == pytest.approx(log_loss(labels, averaged), rel=1e-5)
    assert 1 / len(CLASSES) < right < 1


def they_are_the_pictures(tests: Any) -> None:
    """To the byte, each once, under its own label; in whatever order."""
    images, labels = drawn(TEST, 1)
    pairs = {(image.tobytes(), int(label)) for image, label in zip(images, labels, strict=True)}
    assert len(pairs) == len(tests["labels"]) == len(CLASSES) * TEST
    assert pairs == {
        (image.tobytes(), int(label)) for image, label in zip(tests["images"], tests["labels"], strict=True)
    }


def asked(run: dict[str, Any], tests: Any, averaged: NDArray[Any]) -> None:
    """A file of the test set is read as it was after training."""
    path = Path("fruit/test/lime/003.png")
    said = command("predict", run["run_id"], path, "--json")["digits"]
    assert len(said) == 1
    image = np.asarray(Image.open(path))
    [row] = np.flatnonzero((tests["images"] == image).all(axis=(1, 2, 3)))
    assert said[0]["probabilities"] == pytest.approx(averaged[row].tolist(), abs=1e-4)
    assert said[0]["name"] == CLASSES[averaged[row].argmax()]


def forests(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Probabilities (M, N, C) of scikit-learn's forests, fitted on the same training pictures."""
    learnt, labels = drawn(TRAIN, 0)
    made = [RandomForestClassifier(15, random_state=m).fit(flat(learnt), labels) for m in range(4)]
    # As runs keep them: forests tie, and each precision breaks a tie in its own way.
    return np.stack([one.predict_proba(flat(images)) for one in made]).astype(np.float32)


def softmaxes(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Probabilities (M, N, C) of a network by hand: one hidden layer, tanh, gradient descent."""
    learnt, labels = drawn(TRAIN, 0)
    x, y, made = coarse(learnt), np.eye(len(CLASSES))[labels], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        first = rng.normal(0, 0.2, (x.shape[1], 24))
        last = rng.normal(0, 0.2, (24, len(CLASSES)))
        for _ in range(300):
            hidden = np.tanh(x @ first)
            wrong = (softmax(hidden @ last) - y) / len(x)
            back = wrong @ last.T * (1 - hidden**2)
            last -= 0.5 * hidden.T @ wrong
            first -= 0.5 * x.T @ back
        made.append(softmax(np.tanh(coarse(images) @ first) @ last))
    return np.stack(made)


def flat(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return images.reshape(len(images), -1)


def coarse(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Means of 4×4 pixels, in [0, 1]."""
    return images.reshape(-1, 4, 4, 4, 4, 3).mean(axis=(2, 4)).reshape(-1, 48) / 255


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def imported(said: NDArray[Any], tests: Any, save: Any) -> dict[str, Any]:
    """The run that is made of these predictions, as they are saved; its figures are right."""
    run = command("import", *save(said, tests), "--name", save.__name__)
    assert (run["state"], run["members"]) == ("imported", len(said))
    judged(run, said, tests["labels"])
    return run


def one_file(said: NDArray[Any], tests: Any) -> Sequence[Path]:
    np.savez("forest.npz", probabilities=said, labels=tests["labels"], class_names=CLASSES)
    return [Path("forest.npz")]


def one_file_a_member(said: NDArray[Any], tests: Any) -> Sequence[Path]:
    paths = [Path(f"net {member}.csv") for member in range(len(said))]
    for path, rows in zip(paths, said.tolist(), strict=True):
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["label", *CLASSES])
            for row, label in zip(rows, tests["labels"], strict=True):
                table.writerow([CLASSES[label], *row])
    return paths


def compared(run: dict[str, Any], others: set[str]) -> None:
    """Inspect compares a run with all the others, whoever trained them."""
    # As .streamlit/config.toml says: it is not read here unless a page was drawn before.
    config.set_option("server.address", "localhost")
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    at.query_params["run"], at.query_params["view"] = run["run_id"], "compare"
    at.query_params["side"] = "all"
    at.switch_page("pages/inspect.py").run()
    assert not at.exception
    [chosen] = [one for one in at.selectbox if one.label == "Compare with"]
    assert len(chosen.options) == len(others)
