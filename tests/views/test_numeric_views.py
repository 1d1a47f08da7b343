"""Views of numbers: the same on every face, and planted faults are what they say."""

import json
import re
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import norm

from ensemble.analysis.numeric.ensemble_forms import list_ensemble_arrays
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import ErrorRatio
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, build_numeric_ensemble
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.cli.program import main
from ensemble.comparison.regression_groups import compare_regression_groups
from ensemble.comparison.run_groups import group_runs
from ensemble.figures.palette import DARK, LIGHT
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.runs.store import Run
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers, evaluate_numeric_run
from ensemble.views.registry import NUMERIC_VIEWS
from ensemble.views.summary import ViewSummary, summarize_view
from ensemble.wording.numeric_predictions import describe_numeric_headline

N, M = 400, 5
RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, N)
NOISE = 0.2 + 0.3 * np.abs(X)
TARGETS = 3 * np.sin(X) + RNG.normal(0, NOISE)
MEAN = 3 * np.sin(X) + RNG.normal(0, 0.25, (M, N))
LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def build_ensemble(form: str, members: int = M, stretch: float = 1.0) -> NumericEnsemble:
    mean, noise = MEAN[:members], np.tile(stretch * NOISE, (members, 1))
    if form == "points":
        return PointEnsemble(mean)
    if form == "quantiles":
        curves = norm.ppf(LEVELS)[None, :, None] * noise[:, None]
        return QuantileEnsemble(LEVELS, mean[:, None] + curves)
    return NormalMixture(mean, noise**2)


def keep_run(predicted: NumericEnsemble) -> Run:
    names = [f"house {number}" for number in range(predicted.examples)]
    return create_imported_numeric_run(predicted, TARGETS[: predicted.examples], unit="m", example_names=names)


def summarize(predicted: NumericEnsemble, view: str, **answers: str) -> ViewSummary:
    names = [f"member {number}" for number in range(1, predicted.members + 1)]
    numbers = EvaluatedNumbers(predicted, TARGETS[: predicted.examples], names)
    return summarize_view(NUMERIC_VIEWS[view], numbers, answers)


def inspect_run(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["inspect", *words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.long_cases
@pytest.mark.parametrize("form", ["normal", "quantiles", "points"])
def test_the_command_says_what_the_views_say(form: str) -> None:
    run = keep_run(build_ensemble(form))
    numbers = evaluate_numeric_run(run)
    told = inspect_run(run.id)
    assert (told["members"], told["examples"]) == (M, N)
    assert [view["view"] for view in told["views"]] == list(NUMERIC_VIEWS)
    for name, view in NUMERIC_VIEWS.items():
        summary = summarize_view(view, numbers)
        assert summary.available
        assert inspect_run(run.id, name)["answer"] == summary.answer
        for figure in summary.figures:
            for palette in (LIGHT, DARK):
                assert figure.draw(palette).data
            assert len(figure.table())
    other = "crps" if form == "quantiles" else "surprise"
    done = CliRunner().invoke(main, ["inspect", run.id, "worst", "--choose", f"worst={other}"])
    assert (done.exit_code == 0) == (other == "surprise")


def test_spreads_that_are_too_small_are_found_out_by_histogram_and_coverage() -> None:
    good, small = build_ensemble("normal"), build_ensemble("normal", stretch=0.4)
    assert "No sign that its spreads are wrong" in summarize(good, "calibration").answer
    assert "spreads are too small" in summarize(small, "calibration").answer
    found = " ".join(summarize(small, "answer").evidence)
    assert "they are too narrow" in found
    (promise,) = [
        paragraph.text
        for paragraph in summarize(small, "calibration").paragraphs
        if "promised to hold 90 %" in paragraph.text
    ]
    assert "Mean ± " in promise
    assert "The spread follows the error" in summarize(good, "spread").answer


def test_what_stands_for_a_spread_is_called_so() -> None:
    summary = summarize(build_ensemble("points"), "spread")
    assert "disagreement" in summary.answer
    assert summary.tables == []
    assert "Members gave numbers without a spread: " in summarize(build_ensemble("points"), "answer").to_text()
    wide = summarize(build_ensemble("quantiles", stretch=3.0), "calibration")
    assert "Nothing is assumed between the levels that were given" in wide.to_text()
    assert any("intervals, moved in by" in paragraph.text for paragraph in wide.paragraphs)


def test_a_unit_is_shown_as_it_is_written() -> None:
    numbers = EvaluatedNumbers(build_ensemble("normal"), TARGETS, ["a"] * M, unit="<b>m")
    (figure,) = summarize_view(NUMERIC_VIEWS["spread"], numbers).figures
    drawn = figure.draw(LIGHT)
    assert drawn.layout.yaxis.title.text.endswith("&lt;b&gt;m")  # Plotly would show <b> as bold text.
    assert all("&lt;b&gt;m" in text for text in drawn.data[1].hovertext)


def test_a_member_is_harmful_only_if_the_rmse_without_it_is_significantly_lower() -> None:
    good = build_ensemble("normal")
    assert isinstance(good, NormalMixture)
    mean = good.mean.copy()
    mean[3] += 0.9 * np.cos(2 * X)
    further = summarize(NormalMixture(mean, good.variance), "members")
    assert further.answer.startswith("Member 4 has the highest RMSE, ")
    assert "which is not significant (95 % interval: " in further.evidence[1]
    mean[3] += 4
    worse = summarize(NormalMixture(mean, good.variance), "members")
    assert worse.evidence[1].startswith("Without member 4 the RMSE is ")
    assert "which is significant (95 % interval: " in worse.evidence[1]
    answer = summarize(NormalMixture(mean, good.variance), "answer")
    assert not any("Without member" in sentence for sentence in answer.evidence)


@pytest.mark.parametrize("form", ["normal", "quantiles", "points"])
def test_a_better_run_is_reported_with_what_the_difference_holds_for(form: str) -> None:
    run = keep_run(build_ensemble(form))
    worse = build_ensemble(form)
    arrays = {name: getattr(worse, name) for name in list_ensemble_arrays(form)}
    shifted = {name: array + np.cos(2 * X) * (name != "variance") for name, array in arrays.items()}
    other = keep_run(build_numeric_ensemble(form, shifted, LEVELS.tolist()))
    done = CliRunner().invoke(main, ["compare", run.id, other.id])
    assert done.exit_code == 0, done.output
    assert f"In these runs, {run.id} has the lowest test " in done.output
    assert "the other is significantly worse" in done.output
    assert "Another seed may change the order" in done.output
    assert "95 % intervals over rows, of these trained runs alone" in done.output
    same = CliRunner().invoke(main, ["compare", run.id, keep_run(build_ensemble(form)).id])
    assert "the other is not shown to be worse" in same.output


def test_examples_of_one_group_count_once() -> None:
    predicted = build_ensemble("normal")
    groups = np.repeat(np.arange(20), 20)
    names = [f"member {number}" for number in range(1, M + 1)]
    grouped = EvaluatedNumbers(predicted, TARGETS, names, group_column=groups)
    plain = EvaluatedNumbers(predicted, TARGETS, names)
    assert plain.groups is None
    copied = EvaluatedNumbers(predicted.select_examples(np.arange(N) // 4), TARGETS[np.arange(N) // 4], names)
    assert copied.groups is not None
    assert int(copied.groups.max()) + 1 == N // 4
    for name in ("answer", "calibration"):
        sentences = " ".join(summarize_view(NUMERIC_VIEWS[name], copied).evidence)
        assert ("form 100 groups" in sentences) == (name == "answer")
    wide, narrow = grouped.evaluation.main_coverage, plain.evaluation.main_coverage
    assert wide is not None
    assert narrow is not None
    assert wide.held == narrow.held
    assert wide.high - wide.low > narrow.high - narrow.low
    assert grouped.evaluation.conformal is not None
    assert grouped.evaluation.conformal.calibrated_on == 10


def test_worst_examples_are_those_with_the_largest_errors() -> None:
    run = keep_run(build_ensemble("normal"))
    summary = summarize_view(NUMERIC_VIEWS["worst"], evaluate_numeric_run(run))
    errors = np.abs(MEAN.mean(axis=0) - TARGETS)
    expected = [f"house {number}" for number in np.argsort(-errors)[:10]]
    assert list(summary.tables[0].frame["example"]) == expected


@pytest.mark.parametrize("form", ["normal", "quantiles", "points"])
def test_mislabeled_targets_are_listed(form: str) -> None:
    predicted, targets = build_ensemble(form), TARGETS.copy()
    targets[[7, 300]] += 20
    names = [f"member {number}" for number in range(1, M + 1)]
    found = summarize_view(NUMERIC_VIEWS["worst"], EvaluatedNumbers(predicted, targets, names))
    listed = re.findall(r"example \d+", found.evidence[1])
    assert {"example 7", "example 300"} == set(listed[:2])
    assert "further from the prediction than normal noise explains" in found.evidence[1]
    assert list(found.tables[0].frame["suspect"][:2]) == ["✗", "✗"]
    calm = EvaluatedNumbers(build_ensemble("normal"), MEAN.mean(axis=0) + 0.1, names)
    assert len(calm.suspects) == 0
    view = summarize_view(NUMERIC_VIEWS["worst"], calm)
    assert not any("normal noise" in sentence for sentence in view.evidence)


@pytest.mark.parametrize("form", ["normal", "quantiles", "points"])
@pytest.mark.parametrize("examples", [1, 3, 30])
def test_one_member_and_few_examples_are_told_of_too(form: str, examples: int) -> None:
    whole = build_ensemble(form, members=1)
    predicted = whole.select_examples(np.arange(examples))
    for view in NUMERIC_VIEWS:
        summary = summarize(predicted, view)
        assert summary.answer
        json.dumps(summary.to_dict(), allow_nan=False)
        for figure in summary.figures:
            figure.draw(LIGHT)
    if form == "points":
        assert not summarize(predicted, "worst", worst="surprise").available


def test_a_view_of_the_other_kind_is_refused_by_its_kind() -> None:
    run = keep_run(build_ensemble("points"))
    done = CliRunner().invoke(main, ["inspect", run.id, "agreement"])
    assert done.exit_code != 0
    assert "is for classes, and this run predicts numbers: choose one of answer" in done.output


def test_two_runs_of_the_same_examples_are_compared_and_others_refused() -> None:
    good, small = (keep_run(build_ensemble("normal", stretch=stretch)) for stretch in (1.0, 0.3))
    done = CliRunner().invoke(main, ["compare", small.id, good.id, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["task"], told["tests"], told["examples"]) == ("regression", 2, N)
    ours, theirs = told["groups"]
    assert [ours["run_ids"], theirs["run_ids"]] == [[small.id], [good.id]]
    assert ours["figures"]["rmse"] == theirs["figures"]["rmse"]
    verdict = told["verdict"]
    assert (verdict["about"], verdict["best"], verdict["worse"]) == ("runs", theirs["key"], [ours["key"]])
    assert verdict["answer"] == "One run per setting does not show which settings are better."
    plain = CliRunner().invoke(main, ["compare", small.id, "--baseline", good.id])
    assert verdict["answer"] in plain.stdout
    other = keep_run(build_ensemble("normal").select_examples(np.arange(30)))
    refused = CliRunner().invoke(main, ["compare", other.id, good.id])
    assert refused.exit_code == 1
    assert "whose targets are the same" in refused.stderr
    assert "name 2 to 50" in CliRunner().invoke(main, ["compare", good.id]).stderr


def test_examples_in_another_order_are_matched_by_their_names() -> None:
    predicted, order = build_ensemble("normal"), RNG.permutation(N)
    names = [f"house {number}" for number in range(N)]
    one = create_imported_numeric_run(predicted, TARGETS, example_names=names)
    turned = create_imported_numeric_run(
        predicted.select_examples(order), TARGETS[order], example_names=[names[number] for number in order]
    )
    differences = compare_regression_groups(group_runs([one, turned])).differences
    assert differences.keys() == {"nll", "squared_error"}
    for pairs in differences.values():
        [difference] = pairs.values()
        assert (difference.saved.mean, difference.sign) == (0, 0)


def test_exact_copies_of_an_example_count_once() -> None:
    found = []
    for copies in (1, 4):
        places = np.arange(N).repeat(copies)
        pair = [
            create_imported_numeric_run(build_ensemble("points", members).select_examples(places), TARGETS[places])
            for members in (M, 2)
        ]
        [difference] = compare_regression_groups(group_runs(pair)).differences["squared_error"].values()
        found.append((difference.saved.mean, difference.saved.low, difference.saved.high))
    assert found[1] == pytest.approx(found[0], rel=0.01)


def test_an_end_that_few_examples_leave_open_is_not_shown() -> None:
    evaluation = EvaluatedNumbers(build_ensemble("normal"), TARGETS, ["a"] * M).evaluation
    for low, high, said in (
        (0.8, 0.95, "(95 %: 5 % to 20 %)"),
        (0.0, 0.95, "(95 %: at least 5 %)"),
        (0.0, 1.0, "below a member’s"),
    ):
        sentence = describe_numeric_headline(evaluation, ErrorRatio(0.9, low, high))
        assert "100 %" not in sentence
        assert ("95 %" in sentence) == (high < 1)
        assert said in sentence.replace("5.0", "5")
