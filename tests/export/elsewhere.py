"""What other programs make of what was exported, and what must not stand in it."""

import getpass
import json
import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from ensemble.cli.program import main
from ensemble.storage.folders import runs_folder


def run_elsewhere(words: list[str], folder: Path) -> str:
    """What a Python prints that finds no more than its own packages, in an empty folder."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-I", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def call_export(*words: str) -> dict:
    """What the last line of `ensemble export` says."""
    done = CliRunner().invoke(main, ["export", *words])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.strip().rpartition("\n")[2])


def assert_no_trace(content: bytes) -> None:
    """What leaves says neither where it was made nor by whom."""
    for word in (str(runs_folder()), str(Path.cwd()), os.path.expanduser("~"), sys.prefix):
        assert word.encode() not in content, word
    assert b"/tmp" not in content
    if len(user := getpass.getuser()) > 4:  # "root" stands in much that is no name
        assert user.encode() not in content
