"""Datasets of one's own on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    images = np.random.default_rng(0).integers(0, 256, (40, 28, 28), np.uint8)
    np.savez(tmp_path / "marks.npz", images=images, labels=np.arange(40) % 10)
    return str(tmp_path / "marks.npz")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_a_dataset_is_added_listed_and_removed(source: str) -> None:
    added = call("data", "add", "marks", source, "--noun", "mark", "--json", "--test-share", "0.25")
    report = json.loads(added.stdout)
    assert (report["note"]["train_size"], report["note"]["test_size"]) == (30, 10)
    assert report["counts"]["test"] == [1] * 10
    assert report["notes"] == report["note"]["said"]
    refused = call("data", "add", "marks", source, "--json")
    assert "already exists" in json.loads(refused.stdout)["error"]
    rows = [json.loads(line) for line in call("data", "list", "--json").stdout.splitlines()]
    assert [row["name"] for row in rows][-1] == "marks"
    assert (rows[-1]["noun"], rows[-1]["own"], rows[-1]["prepared"]) == ("mark", True, True)
    assert call("data", "prepare", "marks").exit_code == 0
    assert call("data", "remove", "marks").stdout == "marks is removed.\n"
    assert "marks" not in call("data", "list").stdout


def test_the_command_that_is_advised_can_be_run(source: str) -> None:
    said = call("data", "add", "marks", source, "--test-share", "0.25").stdout
    words = said.split("Train with ")[1].strip().rstrip(".").split()
    assert words == ["--dataset", "marks", "--batch-size", "16"]
    assert 16 <= 30 < 2 * 16  # of 30 images a batch of the usual 128 cannot be made


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["add", "Marks", "SOURCE"], 2, "not a valid name for a dataset"),
        (["add", "mnist", "SOURCE"], 2, "reserved by the program"),
        (["add", "marks", "SOURCE", "--size", "3"], 2, "size is 3"),
        (["add", "marks", "SOURCE", "--test-share", "0.9"], 2, "0.01<=x<=0.5"),
        (["add", "marks", "nowhere"], 1, "There is no file or folder 'nowhere'"),
        (["remove", "marks"], 1, "You have not added a dataset 'marks'"),
        (["remove", "../runs"], 1, "You have not added a dataset"),
        (["prepare", "marks"], 2, "No such dataset: 'marks'. There are: digits"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_what_cannot_be_done_is_one_sentence(words: list[str], status: int, said: str, source: str) -> None:
    result = call("data", *[source if word == "SOURCE" else word for word in words])
    assert (result.exit_code, result.stdout) == (status, "")
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_one_that_a_run_is_learning_is_not_removed(source: str) -> None:
    call("data", "add", "marks", source)
    run = runs.create_run(EnsembleConfig(dataset="marks", batch_size=8))
    refused = call("data", "remove", "marks")
    assert (refused.exit_code, run.id in refused.stderr) == (1, True)
    assert "marks" in call("data", "list").stdout
