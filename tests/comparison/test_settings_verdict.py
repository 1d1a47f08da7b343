"""The verdict on settings: rates of false claims, closed forms, and the same in every interface."""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.analysis.inference.seed_power import compute_seed_power, count_needed_seeds
from ensemble.cli.program import main
from ensemble.comparison.baseline import NO_BASELINE, choose_baseline
from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.differences import adjust_differences, compute_group_difference
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.comparison.run_measures import RunMeasures
from ensemble.comparison.settings_verdict import (
    COST_SECONDS,
    COST_WORK,
    JudgedGroup,
    SettingsVerdict,
    judge_run_groups,
    judge_settings,
)
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.report import render_report
from ensemble.runs.annotations.baseline import write_baseline
from ensemble.runs.annotations.tags import write_tags
from ensemble.runs.store import Run
from ensemble.wording.verdicts.settings_verdict import (
    MAX_ANSWER_LETTERS,
    describe_settings_verdict,
    list_settings_evidence,
)
from tests.comparison.drawn import finished, imported
from tests.pages.predictions_screen import opened

RATES = (0.03, 0.1, 0.3)


def train_rates(skills: tuple[float, ...], seeds: int = 3, rates: tuple[float, ...] = RATES) -> list[Run]:
    """Runs of each learning rate with each seed; on the skill alone it depends how good they are."""
    return [
        finished({"learning_rate": rate, "seed": seed}, skill=skill, draw=10 * place + seed)
        for place, (rate, skill) in enumerate(zip(rates, skills, strict=True))
        for seed in range(seeds)
    ]


def judge(every: list[Run], metric: str = "nll") -> SettingsVerdict:
    return build_comparison_table(group_runs(every)).verdicts[metric]


def draw_verdicts(rng: np.random.Generator, run: Run, groups: int, seeds: int, better: float) -> list[SettingsVerdict]:
    """Verdicts on drawn groups: what an image, a seed, and a run on an image add are drawn; the first is better."""
    n = 300
    images, easy = rng.gamma(0.5, 1.0, n) + 2, rng.random(n)
    measured = []
    for number in range(groups):
        measures = []
        for seed in range(seeds):
            shift = rng.normal(0, 0.03) - better * (number == 0)
            right = easy + rng.normal(0, 0.05, n) + shift < 0.9
            values = {"nll": images + rng.normal(0, 0.3, n) + shift, "accuracy": right}
            measures.append((run, RunMeasures(f"{number}-{seed}", 1, "last", "same", right.astype(float), values, {})))
        group = RunGroup(f"rate {number}", str(number), (run,), {"learning_rate": float(number)})
        measured.append((group, measures))
    pairs = {
        (first.key, second.key): compute_group_difference.__wrapped__(
            tuple(measures for _, measures in ours), tuple(measures for _, measures in theirs)
        )
        for (first, ours), (second, theirs) in itertools.combinations(measured, 2)
    }
    differences = dict(zip(pairs, adjust_differences(list(pairs.values())), strict=True))
    verdicts = [judge_run_groups(measured, differences, None, metric) for metric in ("nll", "accuracy")]
    return [verdict for verdict in verdicts if verdict is not None]


@pytest.mark.parametrize(("groups", "seeds"), [(3, 3), (5, 2)])
def test_equal_settings_are_rarely_called_different_and_clear_differences_are_found(
    groups: int, seeds: int, draws: Callable[[int], int]
) -> None:
    rng, run = np.random.default_rng(61), finished()
    count = draws(240)
    false = sum(any(v.worse for v in draw_verdicts(rng, run, groups, seeds, 0.0)) for _ in range(count))
    assert false <= 0.05 * count
    found = [draw_verdicts(rng, run, groups, 5, 0.5)[0] for _ in range(10)]
    assert all([group.key for group in verdict.remaining] == ["0"] for verdict in found)


def test_settings_that_cannot_be_told_apart_are_named_as_a_range_with_seeds_that_would_decide() -> None:
    verdict = judge(train_rates((2.0, 2.02, 0.3)))
    assert [group.values["learning_rate"] for group in verdict.worse] == [0.3]
    assert describe_settings_verdict(verdict) == "Learning rates 0.03 and 0.1 cannot be told apart by test NLL."
    verdict = judge(train_rates((2.0, 2.02, 2.01)))
    assert not verdict.worse
    assert describe_settings_verdict(verdict) == ("Learning rates from 0.03 to 0.3 cannot be told apart by test NLL.")
    assert describe_settings_verdict(verdict, so_far=True).startswith("So far, learning rates from 0.03")
    text = " ".join(list_settings_evidence(verdict, "digit"))
    assert "which does not show that it is better" in text
    assert "These settings cost about the same to train." in text
    assert "Measured on 500 test digits, on which the best was chosen." in text
    assert "the same settings" not in text
    assert "equal" not in text


def test_a_value_between_that_is_worse_is_not_hidden_in_a_range() -> None:
    verdict = judge(train_rates((2.0, 0.3, 2.01)))
    assert [group.values["learning_rate"] for group in verdict.worse] == [0.1]
    best, second = (group.title for group in verdict.remaining)
    assert {best, second} == {"rate 0.03", "rate 0.3"}
    assert describe_settings_verdict(verdict) == f"R{best[1:]} and {second} cannot be told apart by test NLL."


def test_the_best_settings_are_claimed_only_if_all_others_are_shown_to_be_worse() -> None:
    verdict = judge(train_rates((0.5, 3.0, 1.0)))
    assert [group.values["learning_rate"] for group in verdict.remaining] == [0.1]
    assert describe_settings_verdict(verdict) == "Rate 0.1 has the lowest test NLL of all 3 settings."
    assert (verdict.cheapest, verdict.more_seeds) == ((), None)
    verdict = judge(train_rates((0.5, 3.0, 1.0)), "accuracy")
    assert describe_settings_verdict(verdict) == "Rate 0.1 has the highest test accuracy of all 3 settings."


def test_one_run_per_group_gives_no_verdict_on_settings() -> None:
    verdict = judge(train_rates((0.5, 3.0, 1.0), seeds=1))
    assert not verdict.is_about_settings
    assert (verdict.cheapest, verdict.more_seeds) == ((), None)
    assert describe_settings_verdict(verdict) == "One run per setting does not show which settings are better."
    evidence = list_settings_evidence(verdict, "digit")
    assert evidence[0].startswith("In these runs, rate 0.1 has the lowest test NLL, ")
    assert "a verdict on settings needs 3 seeds of each" in evidence[1]


def test_one_run_with_independent_members_or_next_to_several_is_reported_as_such() -> None:
    independent = [
        finished({"members": 4, "momentum": momentum, "shuffle_per_member": True}, skill=skill, draw=draw)
        for draw, (momentum, skill) in enumerate([(0.1, 2.0), (0.2, 2.01)])
    ]
    verdict = judge(independent)
    assert verdict.is_about_settings
    assert len(verdict.remaining) == 2
    text = " ".join(list_settings_evidence(verdict, "digit"))
    assert "3 seeds of each are needed to decide between" in text
    assert "With one run each, independent members show how much other seeds would differ." in text
    single = finished({"learning_rate": 0.3}, skill=2.0, draw=50)
    text = " ".join(list_settings_evidence(judge([*train_rates((2.0, 2.0), rates=(0.03, 0.1)), single]), "digit"))
    assert "With one run, rate 0.3 is taken to vary as the others do." in text


def judge_costs(*costs: tuple[float, ...]) -> SettingsVerdict:
    """A verdict on groups whose runs have these costs, which cannot be told apart; the second has the best mean."""
    groups = [
        JudgedGroup(str(at), f"{2 ** (at + 1)} members", {"members": 2 ** (at + 1)}, 3, 0.5 - 0.1 * (at == 1), its)
        for at, its in enumerate(costs)
    ]
    return judge_settings(
        groups,
        {"3"},
        metric="nll",
        split="test",
        images=100,
        is_about_settings=True,
        tests=6,
        count_more_seeds=lambda best, second: 7 if second.key == "0" else 2,
    )


def test_the_cheapest_of_those_that_remain_is_named_if_costs_differ() -> None:
    verdict = judge_costs((55.0, 65.0), (120.0,), (240.0,), (1.0,))
    assert (verdict.best.key, [group.key for group in verdict.worse]) == ("1", ["3"])
    assert [group.key for group in verdict.cheapest] == ["0"], "the cheapest of all is worse"
    assert describe_settings_verdict(verdict) == "2 to 8 members cannot be told apart by test NLL."
    text = " ".join(list_settings_evidence(verdict, "digit"))
    assert "2 members is the cheapest of them, 1 min of training per run." in text
    assert "About 2 more seeds of each would show that 8 members is worse, and about 7 would decide between" in text
    assert "Shown to be worse: 16 members." in text
    verdict = judge_costs((60.0, 75.0), (70.0, 90.0), (240.0,), (1.0,))
    assert [group.key for group in verdict.cheapest] == ["1", "0"], "their runs overlap"
    text = " ".join(list_settings_evidence(verdict, "digit"))
    assert "4 members and 2 members are the cheapest of them" in text
    for costs in ((95.0,), (100.0,), (98.0,), (1.0,)), ((0.2,), (1.0,), (0.5,), (0.1,)):
        verdict = judge_costs(*costs)
        assert verdict.cheapest == verdict.remaining, "10 % or a second is within the noise"
    assert judge_costs((60.0,), (), (240.0,), (1.0,)).cheapest == ()


def test_costs_are_seconds_or_else_parameters_times_epochs_times_members() -> None:
    made = [finished({"members": members, "seed": seed}, draw=seed) for members in (2, 4) for seed in (1, 2)]
    verdict = judge(made)
    assert (verdict.cost_unit, [group.cost for group in verdict.groups]) == (COST_SECONDS, [20.0, 20.0])
    for run in made:
        text = (run.path / "status.json").read_text()
        (run.path / "status.json").write_text(re.sub(r'"seconds": [\d.]+', '"seconds": 0.0', text))
    verdict = judge([runs.find_run(run.id) for run in made])
    small, large = (group.cost for group in verdict.groups)
    assert verdict.cost_unit == COST_WORK
    assert small is not None
    assert large == 2 * small


def test_the_number_of_seeds_is_the_least_with_the_power_asked_for() -> None:
    for difference, image_variance in ((0.05, 0.0), (0.05, 1e-4), (0.2, 1e-3)):
        seeds = count_needed_seeds(difference, 0.002, image_variance, 0.01)
        assert seeds is not None
        assert compute_seed_power(difference, 0.002, image_variance, seeds, 0.01) >= 0.8
        assert seeds == 2 or compute_seed_power(difference, 0.002, image_variance, seeds - 1, 0.01) < 0.8
    assert count_needed_seeds(0.01, 0.002, 0.01) is None, "the images are too few"


def test_the_baseline_is_chosen_else_pinned_else_the_default_settings_else_the_first() -> None:
    every = train_rates((2.0, 2.0, 2.0), seeds=1)
    groups = group_runs(every)

    def find_baseline(groups: list[RunGroup], run_id: str | None = None) -> tuple[str, str]:
        found = choose_baseline(groups, run_id)
        assert found is not None
        return found.group.title, found.reason

    assert find_baseline(groups) == ("rate 0.1", "default settings")
    assert find_baseline(groups, every[2].id) == ("rate 0.3", "chosen")
    assert find_baseline([groups[2], groups[0]]) == ("rate 0.3", "first")
    write_baseline("digits", every[0].id)
    assert find_baseline(groups) == ("rate 0.03", "pinned")
    assert choose_baseline(groups, NO_BASELINE) is None
    with pytest.raises(RunError, match="none of the runs compared"):
        choose_baseline(groups, "gone")


def test_a_group_without_predictions_is_no_baseline_unless_it_is_chosen() -> None:
    waiting, done = runs.create_run(EnsembleConfig()), finished({"learning_rate": 0.3})
    found = choose_baseline(group_runs([waiting, done]))
    assert found is not None
    assert found.group.runs == (done,)


def test_groups_on_other_images_are_not_part_of_the_verdict() -> None:
    here = train_rates((2.0, 2.5, 3.0))
    other = imported()
    turned = runs.create_imported_run(
        [np.full((2, 500, 10), 0.1, np.float32)], np.zeros(500, int), here[0].data, name="turned"
    )
    verdict = judge([*here, other, turned])
    assert len(verdict.groups) == 4
    assert "turned" not in [group.title for group in verdict.groups]
    assert not build_comparison_table(group_runs([turned])).verdicts


def test_trials_of_one_sweep_are_said_to_be_judged_on_other_images_by_tune() -> None:
    every = train_rates((2.0, 2.6), rates=RATES[:2])
    assert "Tune" not in list_settings_evidence(judge(every), "digit")[-1]
    for run in every:
        write_tags(run.id, ["mine", "sweep-1129-120000"])
    verdict = judge([runs.find_run(run.id) for run in every])
    assert verdict.sweep == "sweep-1129-120000"
    last = list_settings_evidence(verdict, "digit")[-1]
    assert last.endswith(
        "Tune compares the trials of sweep-1129-120000 on validation images, so its answer may differ."
    )
    write_tags(every[0].id, ["mine"])
    assert judge([runs.find_run(run.id) for run in every]).sweep == ""


def test_the_answer_is_short_however_long_the_titles_are() -> None:
    settings: list[dict[str, Any]] = [
        {"learning_rate": 0.123, "momentum": 0.456, "weight_decay": 0.000789, "label_smoothing": 0.05, "epochs": 3},
        {"learning_rate": 0.3, "momentum": 0.7, "weight_decay": 0.0001, "label_smoothing": 0.1, "width": 12},
    ]
    for skills in ((2.0, 2.0), (1.0, 3.0)):
        made = [
            finished({**own, "seed": seed}, skill=skill, draw=seed + 5 * place)
            for place, (own, skill) in enumerate(zip(settings, skills, strict=True))
            for seed in range(2)
        ]
        for so_far in (False, True):
            assert len(describe_settings_verdict(judge(made), so_far=so_far)) <= MAX_ANSWER_LETTERS


@pytest.mark.parametrize("skills", [(2.0, 2.02, 0.3), (0.5, 3.0, 1.0)])
def test_page_command_json_and_report_give_the_same_verdict(skills: tuple[float, ...]) -> None:
    every = train_rates(skills)
    table = build_comparison_table(group_runs(every))
    answers = {metric: describe_settings_verdict(verdict) for metric, verdict in table.verdicts.items()}
    ids = [run.id for run in every]
    call = CliRunner().invoke(main, ["compare", *ids, "--json"], catch_exceptions=False)
    sent = json.loads(call.stdout)
    verdict = table.verdicts["nll"]
    assert sent["verdict"]["nll"]["answer"] == answers["nll"]
    assert sent["verdict"]["accuracy"]["answer"] == answers["accuracy"]
    assert sent["verdict"]["nll"]["remaining"] == [group.key for group in verdict.remaining]
    assert sent["verdict"]["nll"]["more_seeds"] == verdict.more_seeds
    means = {group["key"]: group["figures"]["nll"]["value"] for group in sent["groups"]}
    assert {group.key: group.mean for group in verdict.groups} == pytest.approx(means)
    assert verdict.best.key == min(means, key=lambda key: means[key])
    baseline = next(group for group in sent["groups"] if group["key"] == sent["baseline"])
    assert (baseline["title"], sent["verdict"]["nll"]["baseline_reason"]) == ("rate 0.1", "default settings")
    for group in sent["groups"]:
        shown = group["difference"] and group["difference"]["settings_nll_p_adjusted"] < 0.05
        pair = {group["key"], sent["baseline"]}
        assert not (shown and pair <= {one.key for one in verdict.remaining}), "the table shows no more"
    text = CliRunner().invoke(main, ["compare", *ids], catch_exceptions=False).stdout
    assert text.splitlines()[0] == answers["nll"]
    report = render_report(every)
    assert f'<p class="answer">{answers["nll"]}</p>' in report
    assert answers["accuracy"] in report
    at = opened(page="compare", runs=",".join(ids))
    for view, figure, metric in (("curves", "loss", "nll"), ("curves", "accuracy", "accuracy"), ("table", "", "nll")):
        at.query_params["view"], at.query_params["figure"] = view, figure
        at.run()
        said = [one.value.replace("\\", "") for one in at.markdown]
        assert any(answers[metric] in one for one in said), (view, figure)
        rest = " ".join([*said, *(one.value.replace("\\", "") for one in at.caption)])
        assert view == "curves" or "The baseline is rate 0.1, the default settings." in rest
        assert all(sentence in rest for sentence in list_settings_evidence(table.verdicts[metric], "digit"))
