"""`runs tag`, `runs list --tag`, `train --tag`: words by which runs are found from a shell."""

import json

import pytest
from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.cli import train as train_command
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_runs_are_tagged_listed_by_tag_and_show_their_tags() -> None:
    first, second, third = (runs.create_run(EnsembleConfig(seed=n)).id for n in range(3))
    said = call("runs", "tag", first, second, "--add", "rates", "--add", "to show")
    assert said.exit_code == 0
    assert f"{first}: rates, to show" in said.output
    call("runs", "tag", second, "--remove", "to show")
    listed = [json.loads(line) for line in call("runs", "list", "--tag", "rates", "--json").output.splitlines()]
    assert {one["run_id"]: one["tags"] for one in listed} == {first: ["rates", "to show"], second: ["rates"]}
    both = call("runs", "list", "--tag", "rates", "--tag", "to show").output
    assert first in both
    assert second not in both
    assert third in call("runs", "list").output
    assert json.loads(call("runs", "show", second, "--json").output)["tags"] == ["rates"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--add", "x"], 1, "There is no run “digits-0101-000000”"),
        ([], 2, "--add TAG, --remove TAG, or both"),
        (["--add", "x" * 41], 1, "A tag has at most 40 characters; this has 41."),
    ],
)
def test_a_slip_is_said_in_a_sentence_and_changes_no_run(words: list[str], status: int, said: str) -> None:
    run = runs.create_run(EnsembleConfig())
    given = ["digits-0101-000000"] if status == 1 and len(words[1]) == 1 else []
    found = call("runs", "tag", run.id, *given, *words)
    assert (found.exit_code, said in found.output) == (status, True)
    assert runs.find_run(run.id).tags == ()


def test_where_one_of_several_would_have_too_many_tags_none_is_changed() -> None:
    few = runs.create_run(EnsembleConfig())
    full = runs.create_run(EnsembleConfig(), tags=[f"{n}" for n in range(20)])
    found = call("runs", "tag", few.id, full.id, "--add", "late")
    assert (found.exit_code, "at most 20 tags" in found.output) == (1, True)
    assert (runs.find_run(few.id).tags, len(runs.find_run(full.id).tags)) == ((), 20)
    swapped = call("runs", "tag", few.id, full.id, "--add", "late", "--remove", "0")
    assert (swapped.exit_code, runs.find_run(full.id).tags[-1]) == (0, "late")


def test_a_run_that_is_trained_from_a_shell_has_its_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_command.runs, "execute_run", lambda run_id, _: runs.find_run(run_id))
    call("train", "--tag", "rates", "--tag", "to show")
    [run] = runs.list_runs()
    assert run.tags == ("rates", "to show")
    assert "uses the run's own settings" in call("train", "--resume", run.id, "--tag", "late").output
