"""Calibration, Combining, Selective and the others on predictions that are known beforehand."""

import numpy as np
import pytest

from ensemble import datasets
from ensemble.analysis.members.combining import geometric_mean_probabilities
from ensemble.analysis.quality.averaging import most_likely_classes
from ensemble.analysis.quality.halves import split_halves
from ensemble.figures.palette import LIGHT
from ensemble.views.how_many_members import format_all_members
from ensemble.views.registry import VIEWS
from tests.conftest import variant
from tests.pages.ensembles import evaluated, probabilities, trained
from tests.views.summaries import find_table, read_sentences, summarize

OF_PREDICTIONS = [name for name in VIEWS if name not in ("loss_by_value", "shift", "distillation")]


@pytest.mark.parametrize("members", [1, 10])
def test_every_view_has_an_answer_or_says_why_not(members: int) -> None:
    run = trained(members=members)
    for name in OF_PREDICTIONS:
        summary = summarize(run, name)
        assert summary.answer, name
        assert summary.available == (members > 1 or not VIEWS[name].needs_several), name
        if summary.available:
            assert all(figure.draw(LIGHT).data for figure in summary.figures), name
        else:
            assert not summary.figures, name
    if members == 1:
        assert "With one member there is nothing to compare" in summarize(run, "members").answer
        assert "One member has nothing to" in summarize(run, "combining").answer


# Above twelve members committees are drawn.
@pytest.mark.long_cases
@pytest.mark.parametrize("members", [2, 16, variant(64), 90])
def test_unanimous_perfect_and_very_many_members_are_no_trouble(members: int) -> None:
    run = trained(epochs=1, members=members, sure=60.0)
    answers = {}
    for name in OF_PREDICTIONS:
        summary = summarize(run, name)
        assert all(figure.draw(LIGHT).data for figure in summary.figures), name
        answers[name] = summary.answer
    few = f"Keep {format_all_members(members)}: 500 digits cannot show whether"
    assert answers["members"].startswith(few)
    assert answers["combining"] == "All four ways of combining get the same of 250 digits right."
    assert answers["selective"].startswith("Answering every digit, the ensemble is wrong on 0 of these")


def test_calibration_judges_all_answers_and_says_what_chance_gives() -> None:
    whole = evaluated(3, 9.0)
    z = (whole.right - whole.confidence).sum() / np.sqrt((whole.confidence * (1 - whole.confidence)).sum())
    assert abs(z) > 4
    summary = summarize(trained(sure=9.0), "calibration")
    text = summary.to_text()
    assert summary.answer.startswith("Less sure than" if z > 0 else "Surer than")
    assert f"{100 * whole.right.mean():.1f} % right" in summary.answer
    assert f"z = {abs(z):.1f}".replace("= -", "= −") in text.replace("= −", "= ")
    assert "A perfectly calibrated ensemble would show " in text
    assert find_table(summary, "as it is")["as it is"].iloc[0] == "1.00"
    assert "judged on the other 250" in text


def test_images_whose_verdict_changes_are_listed_with_what_each_rule_says() -> None:
    whole = evaluated(3, 7.0)
    by_logs = most_likely_classes(geometric_mean_probabilities(whole.probabilities))
    [images] = summarize(trained(sure=7.0), "combining", rule="geometric").images
    assert set(images.numbers) == set(np.flatnonzero(by_logs != whole.said))
    assert len(images.numbers)
    assert images.list_lines_below
    for number in images.numbers:
        assert images.list_lines_below(number)[0] == f"geometric {by_logs[number]}"


@pytest.mark.parametrize("error", ["2", "10"])
def test_selective_counts_on_the_half_that_the_threshold_was_not_found_on(error: str) -> None:
    whole = evaluated(3, 9.0)
    fitted, judged = split_halves(whole.labels)
    best = np.inf
    for threshold in whole.confidence[fitted]:
        kept = fitted & (whole.confidence >= threshold)
        if (kept & ~whole.right).sum() <= float(error) / 100 * kept.sum():
            best = min(best, threshold)
    kept = judged & (whole.confidence >= best)
    share, wrong = 100 * kept.sum() / judged.sum(), int((kept & ~whole.right).sum())
    answer = summarize(trained(sure=9.0), "selective", error=error).answer
    assert f"answers {share:.1f} % of the digits and is wrong on {wrong} of these {kept.sum()}, " in answer


def counted(members: int, sure: float) -> tuple[float, float, list[int]]:
    """Digits won and lost by the ensemble, the mean over its members; and what each gets."""
    labels = datasets.load_dataset("digits").test_labels
    made = probabilities("digits", members, 2, sure)
    whole = [int(sum(member[n].astype(float) for member in made).argmax()) == label for n, label in enumerate(labels)]
    won = lost = 0
    each = []
    for member in made:
        hits = [int(row.argmax()) == label for row, label in zip(member, labels, strict=True)]
        won += sum(ours and not theirs for ours, theirs in zip(whole, hits, strict=True))
        lost += sum(theirs and not ours for ours, theirs in zip(whole, hits, strict=True))
        each.append(sum(hits))
    return won / members, lost / members, each


def test_the_answer_is_against_a_member_drawn_at_random_and_counts_what_a_loop_counts() -> None:
    won, lost, each = counted(2, 2.0)
    summary = summarize(trained(members=2, sure=2.0), "answer")
    assert summary.answer == f"The ensemble gets {round(won - lost)} more digits right than its members do on average."
    evidence = read_sentences(summary)
    assert "Against an average member (" in evidence
    assert f"{won:.1f} digits corrected, {lost:.1f} spoilt, +{won - lost:.1f} digits" in evidence
    assert f"The best single member gets {max(each)}" in evidence
    assert "it was picked on these very digits: nobody knows beforehand which it is" in evidence
    assert evidence.count("Intervals hold for these trained members on new images") == 1


def test_what_500_digits_cannot_show_is_not_called_the_same() -> None:
    summary = summarize(trained(sure=12.0), "answer")
    assert summary.answer == "These 500 digits show no gain in accuracy over the average member."
    assert "is possible" in read_sentences(summary)


def test_runs_that_differ_in_the_seed_alone_tell_how_far_seeds_lie_apart() -> None:
    figures = [(0.9, 0.30), (0.93, 0.25), (0.96, 0.2)]
    for seed, (accuracy, nll) in enumerate(figures):
        run = trained(ensemble_test_accuracy=accuracy, ensemble_test_nll=nll, seed=seed)
    assert "3 runs that differ in the seed alone get 93.0 %" in read_sentences(summarize(run, "answer"))


def test_the_answer_of_one_member_says_that_another_seed_may_differ() -> None:
    summary = summarize(trained(members=1), "answer")
    assert summary.answer.startswith("One member alone: there is no ensemble to compare it with.")
    assert "another seed may differ" in read_sentences(summary)


@pytest.mark.parametrize("voter", ["0", "2"])
def test_the_digits_whose_verdict_a_member_decides_are_listed(voter: str) -> None:
    made = evaluated(3, 2.0)
    [images] = summarize(trained(sure=2.0), "agreement", list="swing", voter=voter).images
    deciding = np.zeros(500, bool)
    for member in range(3) if voter == "0" else (int(voter) - 1,):
        deciding |= np.delete(made.probabilities, member, axis=0).astype(float).sum(axis=0).argmax(axis=1) != made.said
    assert deciding.any()
    assert set(images.numbers) == set(np.flatnonzero(deciding))


def test_every_mistake_is_drawn_in_the_scatter_and_the_sure_are_thinned() -> None:
    made = evaluated(3, 2.0)
    [figure] = summarize(trained(sure=2.0), "uncertainty").figures
    right, wrong = figure.draw(LIGHT).data
    assert wrong.name == f"wrong {int((~made.right).sum())}"
    assert [int(facts[0]) for facts in wrong.customdata] == np.flatnonzero(~made.right).tolist()
    assert len(right.customdata) == int(made.right.sum()), "few enough to draw them all"
