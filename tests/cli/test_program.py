"""The program as a whole: its commands are found, and start without what they do not need."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ensemble.cli.program import COMMAND_MODULES, main
from tests.conftest import REPO

HEAVY = {
    "jax",
    "flax",
    "optax",
    "orbax",
    "tensorflow_datasets",
    "plotly",
    "streamlit",
    "scipy",
    "sklearn",
    "pandas",
    "PIL",
}


@pytest.mark.parametrize("name", COMMAND_MODULES)
def test_every_command_is_called_by_its_name(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_help_lists_what_people_call_and_hides_what_pages_start() -> None:
    listed = CliRunner().invoke(main, ["--help"]).output.split("Commands:\n")[1]
    found = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    hidden = {name for name in COMMAND_MODULES if name.startswith("work")}
    assert sorted(found) == sorted(set(COMMAND_MODULES) - hidden)


def test_the_help_lists_the_commands_in_alphabetical_order() -> None:
    listed = CliRunner().invoke(main, ["--help"]).output
    named = [line.split()[0] for line in listed.split("Commands:\n")[1].splitlines()]
    assert named == sorted(named)
    assert {"train", "distil", "inspect"} <= set(named)


@pytest.mark.parametrize("command", ["plan", "budget", "worth"])
def test_a_replaced_command_names_the_view_that_replaces_it(command: str) -> None:
    assert command not in CliRunner().invoke(main, ["--help"]).output.split("Commands:")[1].split()
    result = CliRunner().invoke(main, [command, "RUN"])
    assert result.exit_code == 2
    assert "ensemble inspect RUN members" in result.stderr


def test_a_slip_of_the_pen_is_answered_with_what_was_meant() -> None:
    result = CliRunner().invoke(main, ["rns"])
    assert result.exit_code == 2
    assert "Did you mean 'runs'?" in result.stderr


def test_the_dashboard_says_that_the_folder_it_was_started_in_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("Streamlit was started"))
    (folder := tmp_path / "gone").mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    result = CliRunner().invoke(main, ["app"])
    assert result.exit_code == 1
    assert "started in no longer exists: change to another" in result.stderr


def test_the_program_lives_in_its_folder_alone() -> None:
    """`ensemble` answers help from any folder when the package can be found."""
    done = subprocess.run(
        [sys.executable, "-m", "ensemble", "runs", "--help"],
        cwd="/",
        env={"PYTHONPATH": str(REPO), "PATH": ""},
        check=True,
        capture_output=True,
        text=True,
    )
    assert "list" in done.stdout
