"""A refusal: a sentence on stderr, and for who reads JSON the same sentence on stdout."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ensemble.cli.program import COMMAND_MODULES, import_command, main


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
def test_a_refusal_of_who_prints_json_is_one_object_with_the_sentence(words: str, exit_code: int) -> None:
    refused = CliRunner().invoke(main, words.split())
    assert refused.exit_code == exit_code, refused.output
    found = json.loads(refused.stdout)
    assert list(found) == ["error"]
    assert f"Error: {found['error']}" in refused.stderr


@pytest.mark.parametrize(
    "words", ["numbers no_table.csv", "inspect nothing-0101-000000", "runs stop nothing-0101-000000"]
)
def test_a_refusal_of_others_leaves_stdout_empty(words: str) -> None:
    refused = CliRunner().invoke(main, words.split())
    assert refused.exit_code == 1
    assert (refused.stdout, refused.stderr[:7]) == ("", "Error: ")


def list_commands(command: click.Command, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        return [(words, command)]
    return [found for name, each in command.commands.items() for found in list_commands(each, (*words, name))]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        pytest.param(words, command, id=" ".join(words))
        for name in COMMAND_MODULES
        for words, command in list_commands(import_command(name), (name,))
        if any("--json" in parameter.opts for parameter in command.params)
    ],
)
def test_every_command_with_json_says_a_bad_option_as_json(words: tuple[str, ...], command: click.Command) -> None:
    refused = CliRunner().invoke(main, [*words, "--json", "--nonsense"])
    assert refused.exit_code == 2
    assert "nonsense" in json.loads(refused.stdout)["error"]
