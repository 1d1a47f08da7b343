"""`plan RUN`: what a budget is best spent on, for people and for scripts."""

import json

import pytest
from click.testing import CliRunner, Result

from ensemble import datasets, runs
from ensemble.cli.program import main
from ensemble.datasets.registry import find_dataset_entry
from tests.pages.ensembles import trained


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["plan", *words])


def test_the_best_plan_is_said_with_its_cost_and_on_which_images_it_was_chosen() -> None:
    run = trained(members=3, epochs=2, sure=1.0)
    result = call(run.id)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "For 7,680 img·member, about 1 min 20 s."
    assert lines[1].startswith("Best: 3 members for ")
    assert "chosen on the test images: expect less on new ones" in result.output
    held = trained(members=2, epochs=1, validation=0.2)
    assert "chosen on the validation images" in call(held.id, "--figure", "accuracy").output


def test_scripts_get_the_choice_and_the_whole_map() -> None:
    run = trained(members=3, epochs=2, sure=1.0)
    found = json.loads(call(run.id, "--budget", str(2 * 1280), "--json").output)
    assert found["run_id"] == run.id
    assert (found["figure"], found["chosen_on"], found["n"]) == ("nll", "test", 500)
    assert found["budget"] == 2 * 1280
    assert len(found["map"]) == 6
    paid = [one for one in found["map"] if one["img_member"] <= found["budget"]]
    best = min(paid, key=lambda one: one["nll"])
    assert (found["best"]["members"], found["best"]["epochs"]) == (best["members"], best["epochs"])
    assert found["best"]["low"] < found["best"]["mean"] == pytest.approx(best["nll"])
    assert found["paid"] == len(paid) == 3
    assert len(found["losses"]) == 1  # of the epochs 1 and 2 one committee each can be the best
    assert found["candidates"][0]["seconds"] > 0
    seconds = json.loads(call(run.id, "--seconds", "80", "--json").output)
    assert seconds["budget"] == 6 * 1280


def test_three_members_or_one_is_answered() -> None:
    run, other = trained(members=3, epochs=2), trained(members=1, epochs=1, sure=9.0)
    result = call(run.id, "--against", "3x2", "1x2")
    assert result.exit_code == 0
    assert result.output.startswith("Better: 3 members for 2 epochs, NLL ")
    pair = json.loads(call(run.id, "--against", "3x1", f"1x1@{other.id}", "--json").output)
    assert pair["loss"]["low"] > 0
    assert pair["loss"]["loss"] == pytest.approx(pair["first"] - pair["second"], abs=1e-6)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--budget", "5"], 2, "pays for no epoch of a single member: choose at least 1,280"),
        (["--budget", "-1"], 2, "above 0"),
        (["--budget", "9999", "--seconds", "9"], 2, "not both"),
        (["--against", "3by1", "1x2"], 2, "is not a plan: 3x5 is 3 members for 5 epochs"),
        (["--against", "9x1", "1x2"], 1, "the run has 2 members and the epochs 1 2"),
        (["--against", "1x1@x", "1x2"], 2, "name another run in the second"),
        (["--against", "1x1", "1x2@no-run"], 1, "no run"),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_sentence(words: list[str], status: int, said: str) -> None:
    result = call(trained(members=2, epochs=2).id, *words)
    assert result.exit_code == status
    assert said in result.stderr
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_run_that_was_trained_elsewhere_has_no_plan() -> None:
    made = runs.read_run_predictions(trained(members=2, epochs=1).id, 1)
    labels = datasets.load_dataset("digits").test_labels
    run = runs.create_imported_run([made], labels, find_dataset_entry("digits"))
    result = call(run.id)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: The run “{run.id}” was trained elsewhere")
