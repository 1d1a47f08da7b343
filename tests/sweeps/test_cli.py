"""`ensemble sweep`: searched, listed, enlarged, resumed from the command line."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ensemble import runs, sweeps
from ensemble.cli.program import main
from tests.sweeps.light import nll, train_lightly

SHARED = ["--network", "logistic", "--members", "2", "--epochs", "3"]
SPACE = ["--space", "learning_rate=0.01..0.3:log", "--space", "momentum=0.8,0.9"]


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *words])


def last(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def test_the_last_line_says_study_trials_and_best() -> None:
    result = run(*SPACE, *SHARED, "--trials", "3", "--sampler", "random", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    said = last(result)
    assert [one["number"] for one in said["trials"]] == [0, 1, 2]
    for one in said["trials"]:
        config = runs.require_training_config(runs.find_run(one["run_id"]))
        assert one["values"] == [nll(config, 3)]
        assert config.validation == 0.1
        assert one["params"] == {"learning_rate": config.learning_rate, "momentum": config.momentum}
    assert said["best"] == min(said["trials"], key=lambda one: one["values"])
    assert said["pareto"] == [said["best"]["number"]]
    assert sweeps.find_sweep(said["study"]).state == said["state"] == "finished"
    shown = run(said["study"])
    assert last(shown) == said
    assert said["study"] in run("--list").stdout
    assert last(run("--list", "--json")) == said


def test_trials_that_are_trained_several_times_say_all_their_runs() -> None:
    words = [*SPACE, *SHARED, "--trials", "2", "--repeats", "3", "--seed", "5"]
    result = run(*words)
    assert result.exit_code == 0, result.output
    said = last(result)
    for one in said["trials"]:
        assert one["run_id"] == one["run_ids"][0]
        assert [runs.find_run(run_id).config.seed for run_id in one["run_ids"]] == [5, 6, 7]
    best = ", ".join(said["best"]["run_ids"])
    assert f"(each trained 3 times, judged by the mean), runs {best}." in result.stderr
    assert [len(one["run_ids"]) for one in last(run(*SPACE, *SHARED, "--trials", "1"))["trials"]] == [1]


def test_a_sweep_is_given_more_trials_by_its_id() -> None:
    study = last(run(*SPACE, *SHARED, "--trials", "2"))["study"]
    assert len(last(run(study, "--trials", "1"))["trials"]) == 3
    assert len(last(run("--enlarge", study, "--trials", "2"))["trials"]) == 5
    refused = run("--resume", study)
    assert refused.exit_code == 1
    assert "all its trials have ended" in refused.stderr


def test_ctrl_c_stops_it_and_resume_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    begun: list[str] = []

    def training(run_id: str, *args: Any, **more: Any) -> runs.Run:
        begun.append(run_id)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return train_lightly(run_id, *args, **more)

    monkeypatch.setattr(runs, "execute_run", training)
    stopped = run(*SPACE, *SHARED, "--trials", "3")
    assert stopped.exit_code == 130
    assert [one["state"] for one in last(stopped)["trials"]] == ["complete", "waiting"]
    resumed = run("--resume", last(stopped)["study"])
    assert resumed.exit_code == 0
    assert [one["state"] for one in last(resumed)["trials"]] == ["complete"] * 3
    assert len(runs.list_runs()) == 3


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (SHARED, 2, "Give a setting to search"),
        ([*SPACE, "--resume", "sweep-0101-000000"], 2, "uses the sweep's own settings"),
        (["--resume", "sweep-0101-000000", "--list"], 2, "Choose one"),
        (["--resume", "sweep-0101-000000"], 1, "There is no sweep"),
        (["--enlarge", "sweep-0101-000000"], 2, "give --trials"),
        (["--space", "rate=1,2"], 2, "space names 'rate'"),
        ([*SPACE, "--objective", "test_nll"], 2, "nll"),
        ([*SPACE, "--validation", "0"], 2, "no held-out examples to choose settings by"),
        ([*SPACE, "--objective", "nll", "--objective", "ece", "--pruner", "median"], 2, "pruner"),
        (["sweep-0101-000000", "--select", "0"], 2, "1<=x<=64"),
        (["--select", "3"], 2, "--select takes a sweep"),
        ([*SPACE, "--name", "one"], 2, "--name and --with-replacement go with --select"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(words: list[str], status: int, said: str) -> None:
    result = run(*words)
    assert result.exit_code == status, result.output
    assert said in result.stderr
    assert "Traceback" not in result.output
