"""The commands that keep, list, show and delete a run that predicts numbers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble.cli.program import main

RNG = np.random.default_rng(3)
TARGETS = RNG.normal(size=60)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    mean = TARGETS + RNG.normal(0, 0.3, (3, 60))
    np.savez(path := tmp_path / "numbers.npz", mean=mean, std=np.full((3, 60), 0.3), y=TARGETS)
    return path


def call(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def call_json(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(*words))
    return found


def test_a_file_is_kept_listed_shown_and_deleted(file: Path) -> None:
    judged = call_json("numbers", str(file), "--json")
    assert judged["run_id"] is None
    assert call("runs", "list") == ""
    words = ("--save", "--name", "mine", "--target", "height", "--unit", "m")
    kept = call_json("numbers", str(file), *words, "--json")
    assert kept["ensemble"] == judged["ensemble"]
    run_id = kept["run_id"]
    listed = call_json("runs", "list", "--json")
    assert listed["run_id"] == run_id
    assert listed["ensemble_test_rmse"] == pytest.approx(judged["ensemble"]["rmse"])
    assert "mine" in call("runs", "list")
    assert call("runs", "list", "--tag", "none") == ""
    shown = call_json("runs", "show", run_id)
    assert (shown["name"], shown["target"], shown["unit"]) == ("mine", "height", "m")
    assert shown["note"] == "Imported from numbers.npz."
    assert "nothing to stop" in call("runs", "stop", run_id, code=1)
    assert call("runs", "delete", run_id) == f"{run_id} is deleted.\n"
    assert call("runs", "list") == ""


def test_what_is_of_the_run_is_refused_without_one(file: Path) -> None:
    assert "add --save" in call("numbers", str(file), "--name", "mine", code=2)
    too_long = call("numbers", str(file), "--save", "--unit", "m" * 21, code=1)
    assert "at most 20 are taken" in too_long
    assert call("runs", "list") == ""
