"""Every command and every program of docs/take_it_away.md does what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets
from ensemble.cli.program import main
from tests.documents import REPO
from tests.export.drawn import create_drawn_run

PAGE = (REPO / "docs" / "take_it_away.md").read_text("utf-8")
# What is asked over HTTP: tests/serving/test_page.py and tests/services/test_served_ensemble.py.
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE.partition("## Ask it over HTTP")[0], re.S | re.M)
TRACKERS = re.compile(r"^import (wandb|mlflow|trackio)$", re.M)  # see test_trackers.py
EXPECTED = {  # what a program prints says
    "from_python": r"2 \['accuracy', 'brier', 'ece', 'nll'\] True",
    "onnxruntime": r'\["0", .*"9"\] \(2, 9, 10\) \[\d( \d){8}\]',
    "export.deserialize": r"\('cpu', 'cuda', 'tpu'\) \(2, 9, 10\) \[\d( \d){8}\]",
    "weights.npz": r"cnn \['0', .*'9'\] 0\.\d+ \(3136, 256\)",
    "weights.safetensors": r"cnn \{'accuracy': 0\.\d+, .*\} 16",
    "curves.csv": r"\[\]",  # this run was never trained
}


def run_python(words: list[str], folder: Path, *options: str) -> str:
    """What a Python prints, by these options one that finds nothing of ours."""
    done = subprocess.run(
        [sys.executable, *options, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPO)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = create_drawn_run("cnn")
    (run.path / "history.jsonl").write_text("")
    np.save("images.npy", datasets.load_dataset("digits").test_images[:9])
    place, ran = tmp_path, 0
    for language, block in BLOCKS:
        if language == "python" and TRACKERS.search(block):
            continue
        if language == "python":
            name = next(name for name in EXPECTED if name in block)
            options = [] if "import ensemble" in block else ["-I"]
            printed = run_python(["-c", block.replace("RUN", run.id)], place, *options)
            assert re.fullmatch(EXPECTED[name], printed.strip()), printed
            ran += 1
            continue
        for line in block.splitlines():
            match shlex.split(line):
                case ["ensemble", *words]:
                    words = [run.id if word == "RUN" else word for word in words]
                    done = CliRunner().invoke(main, words)
                    assert done.exit_code == 0, done.output
                case ["cd", folder]:
                    assert (place / folder / "predict.py").exists()
                    (place / folder / "images.npy").write_bytes((place / "images.npy").read_bytes())
                    script = str(place / folder / "predict.py")
                    run_python([script, "images.npy"], place / folder, "-I")
                case ["python", *words]:
                    printed = run_python(["predict.py", *words[1:]], place / "digits", "-I")
                    assert len(printed.splitlines()) == 9
                case other:
                    raise AssertionError(f"nobody knows how to run {other}")
            ran += 1
    assert ran == 7 + 2 + 3 + 1 + 3 + 1 + 2
    assert np.load(tmp_path / "digits" / "answers.npy").shape == (2, 9, 10)
