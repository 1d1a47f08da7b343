"""Which way Inspect's sentences go: more or fewer, beyond chance or not, surer or less sure."""

import numpy as np
import pytest

from ensemble.analysis.members.combining import compare_combining_rules
from ensemble.analysis.members.gain import MeanGain
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality import temperature_scaling
from ensemble.analysis.quality.quality import measure_qualities
from ensemble.analysis.quality.selective import ConfidenceThreshold
from ensemble.ui.inspect import metrics
from ensemble.ui.inspect.shift import stress_job
from ensemble.views import calibration, selective
from ensemble.views import shift as entropy_histograms
from ensemble.views.members import combining
from ensemble.views.members.combining import combine_members
from ensemble.wording.verdicts import ensemble_gain as answer

N = 60


def outvoted() -> EnsemblePredictions:
    """Two members are right and not sure, the third is wrong and sure: their mean is wrong."""
    members = np.full((3, N, 10), 0.5 / 9)
    members[:2, :, 0] = 0.5
    members[2] = 0.01 / 9
    members[2, :, 1] = 0.99
    return evaluate_predictions(members, np.zeros(N, int))


def erring_in_turn() -> EnsemblePredictions:
    """Every member errs at a third of the images, each at others: their mean is always right."""
    members = np.full((3, N, 10), 0.4 / 9)
    members[:, :, 0] = 0.6
    for m in range(3):
        members[m, m::3] = 0.1 / 8
        members[m, m::3, 0], members[m, m::3, 1] = 0.3, 0.6
    return evaluate_predictions(members, np.zeros(N, int))


def test_a_vote_that_beats_the_mean_is_told_apart_from_what_changes_nothing() -> None:
    made = outvoted()
    assert not made.right.any()
    combined, _ = combine_members(made)
    n = int(combined.judged.sum())
    assert (combined.majority.gain.won, combined.majority.gain.lost) == (n, 0)
    said = combining.describe_best_combination(combined, "digit")
    beaten = f"majority vote {n} more right, fitted weights {n} more right"
    assert said == f"Against the mean, on {n} digits: {beaten}."
    assert len(said) <= 90
    told = combining.describe_combination_evidence(combined, "digit").replace("\N{NO-BREAK SPACE}", " ")
    assert f"majority vote +{n} digits" in told
    assert "geometric mean ±0 digits" in told
    assert "does not mean that there is none" in told


def test_only_ways_that_give_probabilities_are_said_to_have_an_nll() -> None:
    combined, _ = combine_members(outvoted())
    told = combining.describe_combination_evidence(combined, "digit").partition(". Each p")[0]
    ways = dict(zip(("geometric", "majority", "weighted"), told.split("; "), strict=True))
    assert {name: "NLL" in said for name, said in ways.items()} == {
        "geometric": True,
        "majority": False,
        "weighted": True,
    }


def test_each_way_stands_against_the_mean_but_the_mean_itself() -> None:
    combined, _ = combine_members(outvoted())
    shown = combining.tabulate_combination_gains(combined, "digit").set_index("rule")["against the mean"]
    n = int(combined.judged.sum())
    assert shown["arithmetic mean"] == ""
    assert shown["majority vote"].startswith(f"+{n} digits ({n} corrected, 0 spoilt, ")
    assert shown["geometric mean"].startswith("±0 digits (0 corrected, 0 spoilt, ")


@pytest.mark.parametrize("held_out", [True, False])
def test_on_which_images_weights_are_fitted_is_said(held_out: bool) -> None:
    made = outvoted()
    combined = compare_combining_rules(made, None if held_out else erring_in_turn())
    fitted = N // 2 if held_out else N
    where = (
        f"one half of the test images ({fitted}), all four ways are judged on the other ({fitted})"
        if held_out
        else f"the validation images ({N}), all four ways are judged on the test images ({N})"
    )
    assert f"Weights are fitted on {where}." in combining.explain_combinations_chart(combined)


def test_nothing_is_saved_by_what_stays_as_it_is() -> None:
    made = erring_in_turn()
    names = {"unscaled": "as it is", "scaled_members": "before", "scaled_average": "after"}
    shown = calibration.tabulate_temperatures(
        temperature_scaling.compare_fitted_temperatures(made.probabilities, made.labels), names
    )
    saved = shown.set_index("figure").loc["NLL saved"]
    assert saved["as it is"] == "–"
    assert all(" to " in saved[name] for name in ("before", "after"))


def test_a_lower_nll_is_not_hidden_behind_as_many_right() -> None:
    """One member is right, the other knows nothing: weights leave it out, nobody errs."""
    members = np.full((2, N, 10), 0.1)
    members[0, :, 0], members[0, :, 1:] = 0.55, 0.05
    combined, _ = combine_members(evaluate_predictions(members, np.zeros(N, int)))
    said = combining.describe_best_combination(combined, "digit")
    assert said == ("All four ways get the same digits right; NLL: geometric mean higher, fitted weights lower.")
    assert len(said) <= 90
    told = combining.describe_combination_evidence(combined, "digit")
    assert "Each p is adjusted for all of these tests (Holm), each interval is for one test alone" in told


@pytest.mark.parametrize(("rate", "too_many"), [(0.01, True), (0.02, False), (0.05, False)])
def test_more_errors_than_accepted_are_said_to_be(rate: float, too_many: bool) -> None:
    found = ConfidenceThreshold(
        0.9, 0.5, error=0.02, low=0.01, high=0.08, answered=50, wrong=1, n=100, fitted=99, halved=True
    )
    said = selective.describe_selective_answer(found, rate, "the ensemble", "digit")
    assert ("that you accept" in said) == too_many


def test_no_errors_among_few_answers_are_no_proof_of_a_rate() -> None:
    """Of 50 answers none is wrong: up to 7.1 % may be, and 0.5 % was asked for."""
    few = ConfidenceThreshold(0.9, 0.2, 0.0, low=0.0, high=0.0713, answered=50, wrong=0, n=250, fitted=250, halved=True)
    assert selective.describe_selective_answer(few, 0.005, "the ensemble", "digit").endswith(
        "is wrong on 0 of these 50, 0.00 % (0.00 to 7.13 %): too few answers to show 0.5 %."
    )
    assert "too few" not in selective.describe_selective_answer(few, 0.08, "the ensemble", "digit")


@pytest.mark.parametrize(
    ("auroc", "images", "fooled"), [(0.3, 100, True), (0.9, 100, False), (0.45, 100, False), (0.45, 1_000, True)]
)
def test_who_is_surer_of_what_it_has_never_seen_is_said_to_be(auroc: float, images: int, fooled: bool) -> None:
    figures = {"auroc": auroc, "fpr95": 0.2}
    one = {"title": "Noise", "images": images, "measures": {"entropy": figures}, "members": [figures, figures]}
    said = entropy_histograms.describe_ood_separation(one, "digit")
    assert ("it is surer of what it has never seen" in said) == fooled
    assert ("20.0 % of the out-of-distribution images pass too" in said) != fooled


def test_one_member_is_the_only_row_of_figures() -> None:
    whole = erring_in_turn()
    alone = evaluate_predictions(whole.probabilities[:1], whole.labels)
    assert [who for who, _ in answer.list_quality_rows(measure_qualities(alone))] == ["member 1"]
    assert [who for who, _ in answer.list_quality_rows(measure_qualities(whole))] == [
        "ensemble",
        "mean member",
        "member 1",
        "member 2",
        "member 3",
    ]


@pytest.mark.parametrize(("seconds", "said"), [(2, 5), (58, 60), (61, 60), (220, 210), (310, 300), (340, 360)])
def test_a_time_is_said_roughly(seconds: float, said: float) -> None:
    assert stress_job.round_stress_seconds(seconds) == said


def test_no_threshold_for_so_few_errors_is_said() -> None:
    found = ConfidenceThreshold(float("inf"), 0.0, float("nan"), 0.0, 1.0, 0, 0, 250, 250, halved=True)
    said = selective.describe_selective_answer(found, 0.001, "the ensemble", "digit")
    assert said.startswith("No threshold keeps wrong answers to 0.1 %: even of the digits")


def test_a_threshold_above_all_of_the_other_half_is_said() -> None:
    choice = ConfidenceThreshold(0.99998, 0.0, float("nan"), 0.0, 1.0, 0, 0, 250, 250, halved=True)
    said = selective.describe_selective_answer(choice, 0.001, "the ensemble", "digit")
    assert said == (
        "The threshold for 0.1 % wrong answers is so high (99.998 %) that the ensemble answers none on the other half."
    )


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.00296, 0.00426, "0.0030 to 0.0043 lower"),
        (0.0, 0.002, "0 to 0.0020 lower"),
        (0.0, 0.0, "equal"),
        (0.2105, 0.2108, "0.21 lower"),
    ],
)
def test_how_far_the_loss_is_from_the_mean_members(low: float, high: float, said: str) -> None:
    gained = MeanGain(9, 0, 0, 0, (low + high) / 2, low, high, 0, 0)
    assert metrics.format_nll_saving(gained) == said
