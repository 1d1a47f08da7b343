"""A refusal: a sentence on stderr, and the same as JSON on stdout from commands that print JSON."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ensemble.cli.program import main
from tests.test_docs import COMMANDS


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    Path("no_table.csv").write_text("\n")


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        ("train --members 0", 2),
        ("train --resume nothing-0101-000000", 1),
        ("train --task regression --table no_table.csv --target price", 1),
        ("train --nonsense 1", 2),
        ("distil nothing-0101-000000", 1),
        ("stress nothing-0101-000000", 1),
        ("lbfgs --follow nothing-0101-000000", 1),
        ("sweep --space nothing=1", 2),
        ("import no_table.csv", 1),
        ("export nothing-0101-000000 out.npz", 1),
        ("report nothing-0101-000000 --out a.html", 1),
        ("runs show nothing-0101-000000", 1),
        ("label learn --dataset nothing", 2),
        ("numbers no_table.csv --json", 1),
        ("inspect nothing-0101-000000 --json", 1),
        ("compare nothing-0101-000000 other-0101-000000 --json", 1),
        ("data compare nothing-0101-000000 other-0101-000000 --json", 1),
        ("label next no_table.csv --json", 1),
        ("bench --seconds -1 --json", 2),
    ],
)
def test_a_command_that_prints_json_refuses_with_one_object(words: str, exit_code: int) -> None:
    refused = CliRunner().invoke(main, words.split())
    assert refused.exit_code == exit_code, refused.output
    found = json.loads(refused.stdout)
    assert list(found) == ["error"]
    assert f"Error: {found['error']}" in refused.stderr


@pytest.mark.parametrize(
    "words", ["numbers no_table.csv", "inspect nothing-0101-000000", "runs stop nothing-0101-000000"]
)
def test_other_commands_leave_stdout_empty_when_they_refuse(words: str) -> None:
    refused = CliRunner().invoke(main, words.split())
    assert refused.exit_code == 1
    assert (refused.stdout, refused.stderr[:7]) == ("", "Error: ")


@pytest.mark.parametrize(
    "words",
    [
        words
        for words, command in COMMANDS.items()
        if any("--json" in parameter.opts for parameter in command.params) and not isinstance(command, click.Group)
    ],
    ids=" ".join,
)
def test_every_command_with_json_reports_a_bad_option_as_json(words: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(main, [*words, "--json", "--nonsense"])
    assert refused.exit_code == 2
    assert "nonsense" in json.loads(refused.stdout)["error"]
