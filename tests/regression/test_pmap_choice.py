"""With pmap or without, left to the program: what it says is what it measured, and what it did."""

import json

import pytest

from ensemble import regression
from ensemble.cli.stress_and_regression import summarize_regression
from ensemble.regression import Regression
from ensemble.regression.pmap_choice import (
    CHOICE_FILE_NAME,
    TRIAL_ITERATIONS,
    PmapChoice,
    PmapTrial,
    choose_faster_way,
    load_pmap_choice,
    save_pmap_choice,
)
from ensemble.regression.regression_job import LbfgsConfig

# A fixed step and one step remembered: what compiles in a quarter of the time.
SMALL = {"samples": 200, "features": 8, "classes": 3, "iterations": 4, "sweep": False, "stepsize": 0.5, "history": 1}


def solved(devices: int = 2, choice: PmapChoice | None = None, pmap: str = "faster") -> Regression:
    """One that has been solved here; `choice`: what an earlier worker of it had chosen."""
    solve = regression.create_regression(LbfgsConfig(**SMALL, devices=devices, pmap=pmap))
    if choice:
        save_pmap_choice(solve.path, choice)
    solve = regression.run_regression_worker(solve.id)
    assert solve.state == "finished", solve.message
    return solve


def trial(devices: int, seconds: float) -> PmapTrial:
    return PmapTrial(devices=devices, seconds=seconds, iterations=3, evaluations=4)


@pytest.mark.parametrize(("many", "pmap"), [(0.9, True), (1.0, False), (1.1, False)])
def test_the_faster_is_taken_and_without_pmap_where_none_is(many: float, pmap: bool) -> None:
    choice = choose_faster_way(trial(1, 1.0), trial(2, many))
    assert choice == PmapChoice(pmap, trial(1, 1.0), trial(2, many))


@pytest.mark.long
def test_what_was_measured_is_said_and_the_faster_of_it_was_solved() -> None:
    solve = solved()
    choice = load_pmap_choice(solve.path)
    one, many = choice.without, choice.with_pmap
    assert (one["devices"], many["devices"]) == (1, 2)
    for tried in (one, many):
        assert tried["seconds"] > 0
        assert 1 <= tried["iterations"] <= TRIAL_ITERATIONS
        assert tried["evaluations"] == tried["iterations"], "a fixed step evaluates once"
    assert choice.pmap == (many["seconds"] < one["seconds"])
    traces = regression.read_regression_traces(solve.path)
    there = traces.with_pmap if choice.pmap else traces.without
    assert len(there.objective) == 4
    assert (traces.without is None, traces.with_pmap is None) == (choice.pmap, not choice.pmap)
    log = (solve.path / "log.txt").read_text()
    for tried in (one, many):
        assert f"{1000 * tried['seconds']:.4g} ms" in log
    assert f"solved {'with' if choice.pmap else 'without'} it" in log
    summary = summarize_regression(solve)
    assert summary["choice"] == json.loads((solve.path / CHOICE_FILE_NAME).read_text())
    assert summary["devices"] == (2 if choice.pmap else 0)


@pytest.mark.long_cases
@pytest.mark.parametrize("pmap", [True, False])
def test_begun_once_more_it_goes_the_way_that_was_chosen_to_the_bit(pmap: bool) -> None:
    # Whatever is faster this time: the choice said the other by its own figures as well.
    choice = PmapChoice(pmap, trial(1, 1.0), trial(3, 2.0))
    again = solved(choice=choice)
    straight = solved(3, pmap="with" if pmap else "without")
    assert load_pmap_choice(again.path) == choice
    one, other = (regression.read_regression_traces(solve.path) for solve in (again, straight))
    found, expected = (each.with_pmap if pmap else each.without for each in (one, other))
    assert (one.without is None) == (other.without is None) == pmap
    assert found.devices == expected.devices == (3 if pmap else 1)
    assert found.objective.tolist() == expected.objective.tolist()
    assert load_pmap_choice(straight.path) is None


def test_on_one_device_there_is_nothing_to_try() -> None:
    solve = solved(devices=1)
    assert load_pmap_choice(solve.path) == PmapChoice(pmap=False)
    assert regression.read_regression_traces(solve.path).with_pmap is None


def test_one_of_an_earlier_version_is_solved_in_both_ways_as_it_was() -> None:
    solve = regression.create_regression(LbfgsConfig(**SMALL))
    path = solve.path / "config.json"
    kept = json.loads(path.read_text())
    del kept["settings"]["pmap"]
    path.write_text(json.dumps(kept))
    assert regression.find_regression(solve.id).config.pmap == "both"


@pytest.mark.parametrize("odd", ["", "[]", '{"pmap": 1}', '{"pmap": true, "without": {}}'])
def test_a_choice_that_cannot_be_read_is_none(odd: str) -> None:
    solve = regression.create_regression(LbfgsConfig(**SMALL))
    (solve.path / CHOICE_FILE_NAME).write_text(odd)
    assert load_pmap_choice(solve.path) is None
