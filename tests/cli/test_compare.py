"""The command that compares runs, as a person calls it."""

import json

import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.runs.annotations.tags import write_tags
from tests.comparison.drawn import finished, imported


def call(*words):
    return CliRunner().invoke(main, ["compare", *words], catch_exceptions=False)


@pytest.fixture
def made():
    return [
        finished({"seed": seed, "momentum": momentum}, skill=1.5 + momentum, draw=seed)
        for seed in range(2)
        for momentum in (0.1, 0.9)
    ]


def test_json_has_the_groups_their_figures_and_the_differences_to_the_baseline(made):
    ids = [run.id for run in made]
    found = json.loads(call(*ids, "--baseline", ids[0], "--json").stdout)
    base, other = found["groups"]
    assert (base["run_ids"], other["run_ids"]) == (ids[::2], ids[1::2])
    assert (base["title"], base["why"], base["difference"]) == ("momentum 0.1", "baseline", None)
    assert (base["settings"]["momentum"], base["settings"]["seed"]) == ([0.1], [0, 1])
    said = build_comparison_table(group_runs(made), ids[0]).columns[1]
    assert other["figures"]["nll"]["value"] == said.metrics["nll"].value
    assert other["figures"]["nll"]["over"] == "seeds and images"
    assert other["difference"]["p_adjusted"] == said.difference.adjusted_p
    assert other["difference"]["won"] - other["difference"]["lost"] == pytest.approx(other["difference"]["digits"])
    assert (found["baseline"], found["tests"], found["by"]) == (base["key"], 2, None)


def test_a_table_says_the_same_to_people(made):
    said = call(*[run.id for run in made], "--baseline", made[0].id).stdout
    assert "momentum 0.9" in said
    assert "Against “momentum 0.1”:" in said
    assert "more right, lower NLL" in said
    assert "adjusted for all 2 tests, accuracy and NLL of all pairs (Holm)" in said
    assert "for other seeds and new images" in said
    assert "of one run" not in said


def test_runs_are_found_by_their_tag_or_their_sweep_and_grouped_by_settings(made):
    for run in made[:2]:
        write_tags(run.id, ["mine"])
    write_tags(made[2].id, ["sweep-1"])
    found = json.loads(call("--tag", "mine", "--sweep", "sweep-1", "--by", "seed,members", "--json").stdout)
    assert [group["title"] for group in found["groups"]] == ["seed 0 · 2 members", "seed 1 · 2 members"]
    assert [len(group["run_ids"]) for group in found["groups"]] == [2, 1]
    assert found["by"] == ["seed", "members"]


def test_the_baseline_need_not_be_named_twice(made):
    found = json.loads(call(made[1].id, "--baseline", made[0].id, "--json").stdout)
    assert [group["why"] for group in found["groups"]] == ["baseline", ""]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--tag", "none"], 1, "No run has the tag “none”"),
        (["nothing-1"], 1, "There is no run “nothing-1”"),
        ([], 2, "0 runs cannot be compared: name 2 to 50, or choose them by --tag or --sweep."),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(words, status, said):
    result = call(*words)
    assert (result.exit_code, result.stdout) == (status, "")
    assert said in result.stderr


def test_a_setting_there_is_none_of_is_named_with_those_there_are(made):
    result = call(made[0].id, made[1].id, "--by", "rate")
    assert result.exit_code == 2
    assert "no setting 'rate' to group by" in result.stderr


def test_what_was_imported_stands_beside_what_was_trained_and_what_is_missing_is_said(made):
    theirs = imported(name="theirs")
    (made[1].path / "predictions" / "epoch-0002.npz").write_bytes(b"")
    result = call(made[0].id, made[1].id, theirs.id, "--baseline", made[0].id)
    assert result.exit_code == 0
    assert "theirs" in result.stdout
    assert "no predictions to compare" in result.stdout
    assert result.stderr.startswith("Note: ")
    assert "are damaged" in result.stderr
    assert runs.find_run(made[1].id).name in result.stderr
