"""Groups side by side, against the figures that Inspect shows and the tests they rest on."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.broken_members import judge_member_removal
from ensemble.analysis.members.gain import compute_gain, gain_over_mean_member
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.quality import measure_qualities
from ensemble.comparison.comparison_table import ComparisonTable, build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.errors import RunError
from ensemble.figures.comparison.comparison_table import (
    NAME_COLUMN,
    describe_table_basis,
    tabulate_comparison,
    tabulate_comparison_values,
)
from ensemble.jobs.status import write_status
from ensemble.wording.verdicts.comparison_text import (
    describe_comparison,
    describe_comparison_basis,
    format_shown_differences,
)
from tests.comparison.drawn import finished, imported, labels, probabilities


def judged(run, epoch=2):
    return evaluate_predictions(runs.read_run_predictions(run.id, epoch), labels())


def test_the_figures_of_one_run_are_those_of_inspect_with_its_intervals():
    run = finished()
    figures = build_comparison_table(group_runs([run])).columns[0].metrics
    made = judged(run)
    found, gained = measure_qualities(made), gain_over_mean_member(made)
    for name in ("accuracy", "nll", "brier", "ece"):
        assert figures[name].value == pytest.approx(getattr(found.ensemble, name))
    assert figures["member_accuracy"].value == pytest.approx(found.mean.accuracy)
    for name, part in (("accuracy", found.ensemble), ("member_accuracy", found.mean)):
        assert (figures[name].low, figures[name].high) == pytest.approx((part.low, part.high))
    assert (figures["gain"].value, figures["gain"].low, figures["gain"].high) == pytest.approx(
        (gained.digits, gained.digits_low, gained.digits_high)
    )
    assert figures["nll"].low < figures["nll"].value < figures["nll"].high
    assert {figures[name].over for name in ("accuracy", "nll", "gain")} == {"images"}
    assert (figures["seconds"].value, figures["seconds"].over) == (20.0, "")


def test_two_runs_differ_by_what_inspect_says_with_p_adjusted_for_all_tests_of_the_table():
    made = [finished({"momentum": skill / 3}, skill=skill, draw=draw) for draw, skill in enumerate([2.0, 2.01, 2.6])]
    found = build_comparison_table(group_runs(made), made[0].id)
    base, *others = found.columns
    assert (base.difference, base.no_difference_reason, found.tests) == (None, "baseline", 6)
    pairs = [(made[1], made[0]), (made[2], made[0]), (made[1], made[2])]
    gains = [compute_gain(judged(run).averaged, judged(other).averaged, labels()) for run, other in pairs]
    adjusted = adjust_p_holm([p for one in gains for p in (one.p, one.nll_p)])
    for number, (column, one) in enumerate(zip(others, gains[:2], strict=True)):
        said = column.difference
        assert (said.won, said.lost, said.p) == pytest.approx((one.won, one.lost, one.p))
        for name in ("digits", "digits_low", "digits_high", "nll", "nll_low", "nll_high"):
            assert getattr(said, name) == pytest.approx(getattr(one, name))
        assert (said.adjusted_p, said.adjusted_nll_p) == pytest.approx(tuple(adjusted[2 * number : 2 * number + 2]))
    assert (others[0].difference.accuracy_sign, others[1].difference.accuracy_sign) == (0, 1)


def compared(skills: list[float], **settings: object) -> ComparisonTable:
    """Runs of four members each, the first the baseline, on which alone the skill differs."""
    made = [
        finished({"members": 4, "momentum": (1 + draw) / 9, **settings}, skill=skill, draw=draw)
        for draw, skill in enumerate(skills)
    ]
    return build_comparison_table(group_runs(made), made[0].id)


def answers(table: ComparisonTable) -> list[str]:
    """What is said of each column but the baseline, and of all together."""
    each = [format_shown_differences(column.difference) for column in table.columns if column.difference]
    return [*each, describe_comparison(table)[0]]


def test_what_one_run_each_shows_is_said_of_these_runs_and_not_of_their_settings() -> None:
    table = compared([2.0, 3.0])
    difference = table.columns[1].difference
    assert difference is not None
    assert (difference.settings_p, difference.adjusted_settings_p) == (None, None)
    each, together = answers(table)
    assert each == "in these runs more right, lower NLL"
    assert together == "One run per setting does not show which settings are better."
    rows = tabulate_comparison(table, True).set_index("what").iloc[:, 1]
    assert rows["Accuracy, verdict"] == "in these runs more right"
    assert rows["NLL, verdict"] == "in these runs lower"
    for basis in (describe_table_basis(table), describe_comparison_basis(table)):
        assert "The test digits are by few people" in basis


@pytest.mark.parametrize("setting", ["shuffle_per_member", "bootstrap"])
def test_members_that_share_nothing_tell_of_their_settings(setting: str) -> None:
    table = compared([1.0, 3.0, 1.0], **{setting: True})
    better, equal = (column.difference for column in table.columns[1:])
    assert better is not None
    assert equal is not None
    assert better.over == "images"
    assert better.settings_p is not None
    assert better.p < better.settings_p < 0.01
    assert (better.settings_accuracy_sign, better.settings_nll_sign) == (1, 1)
    assert (equal.settings_accuracy_sign, equal.settings_nll_sign) == (0, 0)
    each, other, together = answers(table)
    assert (each, other) == ("more right, lower NLL", "no difference shown")
    assert together == "Momentum 0.2222 has the lowest test NLL of all 3 settings."


def test_members_of_one_of_two_runs_that_share_their_order_tell_nothing_of_settings() -> None:
    alone = finished({"shuffle_per_member": True}, skill=3.0, draw=1)
    table = build_comparison_table(group_runs([finished(skill=1.0), alone]), alone.id)
    (difference,) = [column.difference for column in table.columns if column.difference]
    assert difference.settings_p is None


def test_several_seeds_tell_of_their_settings() -> None:
    made = [
        finished({"seed": seed, "momentum": 0.1 * skill}, skill=skill, draw=10 * seed + int(skill))
        for seed in range(3)
        for skill in (2.0, 4.0)
    ]
    table = build_comparison_table(group_runs(made), made[0].id)
    (difference,) = [column.difference for column in table.columns if column.difference]
    assert (difference.settings_p, difference.settings_nll_p) == (difference.p, difference.nll_p)
    assert difference.adjusted_settings_p == difference.adjusted_p
    assert answers(table)[0] == "more right, lower NLL"


def test_a_groups_figures_are_means_over_seeds_and_say_what_their_interval_holds_for():
    made = [finished({"seed": seed}, draw=seed) for seed in range(3)]
    figure = build_comparison_table(group_runs(made)).columns[0].metrics
    alone = [build_comparison_table(group_runs([run])).columns[0].metrics["nll"] for run in made]
    assert figure["nll"].value == pytest.approx(np.mean([one.value for one in alone]))
    assert (figure["nll"].over, figure["ece"].over, figure["nll"].runs) == ("seeds and images", "seeds", 3)
    assert figure["accuracy"].low < figure["accuracy"].value < figure["accuracy"].high <= 1


def test_figures_and_differences_of_a_table_have_their_ends_in_order_and_their_signs():
    made = [finished({"momentum": 0.1}, skill=2.0), finished({"momentum": 0.8}, skill=2.6, draw=5)]
    table = build_comparison_table(group_runs(made), made[0].id)
    values = tabulate_comparison_values(table)
    column = table.columns[1]
    of_column = values[values["group"] == column.group.title]
    rows = {(row.kind, row.name): row for row in of_column.itertuples(index=False)}
    difference = column.difference
    digits, nll = rows["difference", "digits"], rows["difference", "nll"]
    assert (digits.value, digits.low, digits.high) == (difference.digits, difference.digits_low, difference.digits_high)
    assert (nll.value, nll.low, nll.high) == (-difference.nll, -difference.nll_high, -difference.nll_low)
    assert nll.low < nll.value < nll.high < 0 < digits.value
    assert (rows["difference", "won"].value, rows["difference", "lost"].value) == (difference.won, difference.lost)
    assert difference.won > difference.lost
    shown = tabulate_comparison(table, False).set_index(NAME_COLUMN)
    for name in ("Accuracy", "NLL, nats", "Mean member"):
        for cell in shown.loc[name]:
            value, low, high = (float(number) for number in re.findall(r"\d+\.\d+", cell))
            assert low < value < high
    won, lost = (f"{count:.0f}" for count in (difference.won, difference.lost))
    assert shown.loc["Won and lost, images"].iloc[1] == f"{won} won, {lost} lost"
    for name, sign in (("More right, images", "+"), ("Change of NLL, nats", "\N{MINUS SIGN}")):
        cell = shown.loc[name].iloc[1]
        assert cell.startswith(sign)
        value, low, high = (float(n) for n in re.findall(r"[-+]?\d+(?:\.\d+)?", cell.replace("\N{MINUS SIGN}", "-")))
        assert low < value < high


def test_groups_differ_by_the_mean_over_pairs_of_their_runs():
    made = [
        finished({"seed": seed, "momentum": momentum}, skill=2 + momentum, draw=7 * seed)
        for seed in range(2)
        for momentum in (0.1, 0.8)
    ]
    _, other = build_comparison_table(group_runs(made), made[0].id).columns
    pairs = [
        compute_gain(judged(one).averaged, judged(base).averaged, labels()) for one in made[1::2] for base in made[::2]
    ]
    said = other.difference
    for name in ("won", "lost", "digits", "nll"):
        assert getattr(said, name) == pytest.approx(np.mean([getattr(p, name) for p in pairs]))
    assert said.over == "seeds and images"
    assert said.digits_low < said.digits < said.digits_high


def test_runs_are_compared_at_the_epoch_chosen_on_validation_and_else_at_the_last():
    last, chosen = finished(epochs=3), finished({"validation": 0.1}, epochs=3)
    best = replace(chosen.status, best_epoch=2, best_on="validation")
    write_status(chosen.path, best)
    first, second = build_comparison_table(group_runs([last, runs.find_run(chosen.id)])).columns
    assert (first.epochs, first.chosen) == ((3,), {"last"})
    assert (second.epochs, second.chosen) == ((2,), {"validation"})
    # Without validation images the best epoch is the best on the test images: never that one.
    assert last.status.best_on == "test"
    assert "others after their last epoch" in build_comparison_table(group_runs([last, runs.find_run(chosen.id)])).note


def test_settings_say_which_columns_differ():
    made = [finished({"learning_rate": rate, "seed": seed}) for seed in (0, 1) for rate in (0.01, 0.1)]
    rows = {row.name: row for row in build_comparison_table(group_runs(made)).settings}
    assert rows["learning_rate"].texts == ("0.01", "0.1")
    assert [name for name, row in rows.items() if row.differs] == ["learning_rate"]
    assert rows["seed"].texts == ("0, 1", "0, 1")


def test_other_test_images_are_said_and_not_compared():
    here, theirs = finished(), imported()
    other = runs.create_imported_run([probabilities(3, 2)], labels()[::-1], here.data, name="turned")
    same, turned = (build_comparison_table(group_runs([here, one]), here.id) for one in (theirs, other))
    assert same.columns[1].difference is not None
    assert same.warnings == ()
    assert (turned.columns[1].difference, turned.columns[1].no_difference_reason) == (None, "other images")
    assert turned.columns[1].metrics["accuracy"].value is not None
    both = build_comparison_table(group_runs([here, theirs, other]), here.id)
    assert [column.no_difference_reason for column in both.columns] == ["baseline", "", "other images"]
    assert both.warnings == turned.warnings
    assert "not all of these were tested on the same images" in turned.warnings[0].lower()


def test_a_run_without_predictions_is_named_and_the_others_go_on():
    made, waiting = finished(), runs.create_run(EnsembleConfig(members=2, momentum=0.1))
    torn = finished({"momentum": 0.3})
    (torn.path / "predictions" / "epoch-0002.npz").write_bytes(b"no predictions")
    found = build_comparison_table(group_runs([made, waiting, torn]), made.id)
    assert len(found.warnings) == 2
    assert {column.no_difference_reason for column in found.columns} == {"baseline", "no predictions"}
    assert [one.metrics["nll"].value is None for one in found.columns] == [True, True, False]
    assert all(waiting.name in said or torn.name in said for said in found.warnings)


def test_labels_that_cannot_be_read_cost_the_figures_of_their_run_alone():
    made = imported()
    (made.path / "test_labels.npz").write_bytes(b"")
    found = build_comparison_table(group_runs([made, finished()]))
    assert "cannot be read" in found.warnings[0]
    assert found.columns[0].metrics["accuracy"].value is not None


def test_predictions_that_are_written_anew_are_read_anew():
    run, better = finished(), finished(skill=4.0, draw=3)
    before = build_comparison_table(group_runs([run])).columns[0].metrics["nll"].value
    file = "predictions/epoch-0002.npz"
    shutil.copy(better.path / file, run.path / file)
    assert build_comparison_table(group_runs([run])).columns[0].metrics["nll"].value != before


def test_a_baseline_that_is_none_of_the_runs_is_refused():
    with pytest.raises(RunError, match="baseline 'digits-1' is none of the runs compared"):
        build_comparison_table(group_runs([finished()]), "digits-1")


def test_of_a_run_still_at_work_it_is_said_that_its_figures_are_those_so_far():
    run = finished()
    write_status(run.path, replace(run.status, state="queued"))
    (said,) = build_comparison_table(group_runs([runs.find_run(run.id)])).warnings
    assert said == f"“{run.name}” is queued: its figures are those so far."


def test_of_a_run_that_was_cut_short_it_is_said_where():
    run = finished()
    write_status(run.path, replace(run.status, state="stopped", epoch=1))
    (said,) = build_comparison_table(group_runs([runs.find_run(run.id)])).warnings
    assert said == f"“{run.name}” is stopped after epoch 1 of 2."


def test_intervals_over_seeds_do_not_leave_what_a_figure_can_be() -> None:
    two = [finished({"seed": seed}, draw=seed, skill=3.0 * seed) for seed in (1, 2)]
    for run, seconds in zip(two, (10.0, 90.0), strict=True):
        write_status(run.path, replace(run.status, seconds=seconds, img_member_per_s=7e3 / seconds))
    (column,) = build_comparison_table(group_runs([runs.find_run(run.id) for run in two])).columns
    for name in ("ece", "seconds", "img_member_per_s"):
        figure = column.metrics[name]
        assert figure.low == 0 < figure.value < figure.high, name
    assert column.metrics["accuracy"].high <= 1


def test_of_a_run_that_is_better_without_a_member_it_is_said_which() -> None:
    broken = probabilities(4, 5)
    broken[2] = 0.1
    run = runs.create_imported_run([broken], labels(), registry.find_dataset_entry("digits"), name="broken")
    (said,) = build_comparison_table(group_runs([run, imported()])).warnings
    assert said.startswith("“broken” is better without member 3: NLL ")
    removal = judge_member_removal(judged(run, 1))
    assert f"NLL {removal.nll_without:.3g} against {removal.nll:.3g}." in said
