"""Committee: how many members are enough, what more would bring, and what each is worth."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.committees import CommitteeEvaluation, evaluate_committees
from ensemble.analysis.members.extrapolation import Extrapolation, extrapolate_committee_curve
from ensemble.analysis.members.sufficient_size import (
    DEFAULT_MARGINS,
    REQUIRED_SHARE,
    SufficientSize,
    find_sufficient_size,
)
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.calibration_noise import estimate_ensemble_calibration_error
from ensemble.figures.inspect import committee as figures
from ensemble.figures.inspect.committee import EXPECTED_LABEL, METRIC_NAMES, format_committee_metric
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.member_faults import list_broken_members, repeat_member_faults
from ensemble.views.parts import Choice, ChoiceRow, Columns, DeferredChoice, Figure, Figures, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import committee as words
from ensemble.wording.verdicts.calibration import describe_chance_error

METRIC_CHOICE = Choice("figure", "Figure", METRIC_NAMES, "accuracy")
# The margins to choose from, by their words in an address; accuracy's in percentage points.
MARGIN_VALUES = {
    "accuracy": {word: float(word) / 100 for word in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")},
    "nll": {word: float(word) for word in ("0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1")},
    "brier": {word: float(word) for word in ("0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05")},
}
_MARGIN_NAMES = {"accuracy": "margin", "nll": "nll_margin", "brier": "brier_margin"}
SHARES = {word: float(word) / 100 for word in ("50", "80", "90", "95", "99", "100")}


def offer_margins(figure: str) -> Choice:
    values = MARGIN_VALUES[figure]
    return Choice(
        name=_MARGIN_NAMES[figure],
        label="Loss that you accept",
        values={word: words.format_committee_loss(value, figure) for word, value in values.items()},
        default=next(word for word, value in values.items() if value == DEFAULT_MARGINS[figure]),
        help="How much worse than all members together a smaller committee may be.",
        form="slider",
        width=260,
        key=f"committee_margin_{figure}",
    )


KEEP_CHOICE = Choice(
    name="keep",
    label="Committees that must stay within it",
    values={word: formats.format_percent(share, figures=3) for word, share in SHARES.items()},
    default=next(word for word, share in SHARES.items() if share == REQUIRED_SHARE),
    help="Of all committees of one size: you do not know beforehand which one yours will be.",
    form="slider",
    width=260,
    key="committee_share",
)


def build_committee(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(
            "One member is no committee: train two or more to see how many are enough.",
            "unavailable",
            icon=":material/group_off:",
        )
        return
    # A few seconds for 64 members.
    wait = f"Judging committees of the {epoch.members} members …"
    judged = epoch.measure(judge_committees, wait=wait)
    broken = list_broken_members(epoch)  # the headline names them first
    name = yield DeferredChoice(METRIC_CHOICE)
    if name in DEFAULT_MARGINS:
        _, margin, share = yield ChoiceRow((METRIC_CHOICE, offer_margins(name), KEEP_CHOICE))
        verdict = decide_enough_members(epoch, name, MARGIN_VALUES[name][margin], SHARES[share])
        enough = words.describe_enough_members(verdict, epoch.noun)
        yield Paragraph(" ".join([*broken, enough]), "answer")
        yield Paragraph(words.describe_enough_evidence(verdict, epoch.noun), "evidence")
    else:
        yield METRIC_CHOICE
        unjudged = "How many members are enough is not judged by ECE."
        yield Paragraph(" ".join([*broken, unjudged]), "answer")
        yield Paragraph(
            f"It is not a mean over {pluralize_noun(epoch.noun)}, so no margin of it can be "
            "tested: choose another metric.",
            "evidence",
        )
        verdict = None
    yield from repeat_member_faults(epoch, broken)
    drawn_by = (name, margin, share) if verdict else (name,)

    def build_metric_figure(metric: str) -> Figure:
        if metric == name:
            return _build_committee_figure(epoch, judged, metric, verdict, drawn_by)
        default = offer_margins(metric).default if metric in DEFAULT_MARGINS else ""
        enough_members = (
            decide_enough_members(epoch, metric, DEFAULT_MARGINS[metric], REQUIRED_SHARE)
            if metric in DEFAULT_MARGINS
            else None
        )
        return _build_committee_figure(epoch, judged, metric, enough_members, (metric, default, KEEP_CHOICE.default))

    yield Figures(
        METRIC_CHOICE,
        build_metric_figure,
        {"ece": lambda: describe_chance_error(epoch.measure(estimate_ensemble_calibration_error))},
    )
    beyond = extrapolate_committee_curve(judged, name)
    costs = _tabulate_committee_costs(judged, name, beyond, epoch)
    yield Table(
        "Gain and cost of each further member",
        costs,
        True,
        _explain_committee_costs(judged, beyond, name, list(costs)),
        "committee_costs",
    )
    yield Columns((1, 1), (lambda: _member_worth_view(epoch, judged), lambda: _best_committees_view(epoch, judged)))


def _build_committee_figure(
    epoch: EvaluatedEpoch,
    judged: CommitteeEvaluation,
    name: str,
    verdict: SufficientSize | None,
    drawn_from: tuple[str, ...],
) -> Figure:
    curve = committees.committee_curve(judged, name)
    title = f"{METRIC_NAMES[name]} over the committee's size · {epoch.source}"
    return Figure(
        label=METRIC_NAMES[name],
        alt=figures.describe_committee_chart(curve, name, judged.n),
        explanation=figures.explain_committee_chart(judged, curve, name),
        draw=lambda palette: figures.plot_committee_curve(judged, name, verdict, title, palette),
        key="committee",
        file=f"committee-{name}",
        title="The committees' figures by their size",
        table=lambda: figures.tabulate_committee_sizes(judged, epoch.measure(pick_best_committees, fitted=True)),
        drawn_from=drawn_from,
    )


def _member_worth_view(epoch: EvaluatedEpoch, judged: CommitteeEvaluation) -> View:
    """What each member is worth: the ensemble with it and without."""
    yield Table(
        "What each member is worth",
        words.tabulate_member_worth(judged, epoch.noun),
        True,
        words.explain_member_worth(judged.members),
        "committee_worth",
    )


def _best_committees_view(epoch: EvaluatedEpoch, judged: CommitteeEvaluation) -> View:
    yield Table(
        "The best committee of each size",
        words.tabulate_best_committees(judged, epoch.measure(pick_best_committees, fitted=True)),
        True,
        words.describe_committee_choice(epoch.fit is not None),
        "committee_best",
    )


def judge_committees(predictions: EnsemblePredictions) -> CommitteeEvaluation:
    return evaluate_committees(predictions.probabilities, predictions.labels, groups=predictions.groups)


def pick_best_committees(predictions: EnsemblePredictions, fit: EnsemblePredictions | None) -> list[tuple[int, ...]]:
    """The members of the best committee of each size by NLL, on the images held out if any are.

    The same committees are looked at there as on the test images.
    """
    on = fit or predictions
    return committees.best_committees_by_size(on.probabilities, on.labels)


def decide_enough_members(epoch: EvaluatedEpoch, figure: str, margin: float, share: float) -> SufficientSize:
    judged = epoch.measure(judge_committees)

    def decide_for_margin(_: EnsemblePredictions, figure: str, margin: float, share: float) -> SufficientSize:
        return find_sufficient_size(judged, figure, margin, share)

    return epoch.measure(decide_for_margin, figure, margin, share)


_MAX_EXPECTED_ROWS = 4  # rows at most of what is expected
_TIMED_IMAGES = 1_000  # that predicting is told for


def measure_prediction_time(history: Sequence[dict[str, Any]], members: int, n: int) -> float | None:
    """Seconds that one member took for 1,000 test images; None where a run does not tell.

    The clock stands beside the last steps of an epoch and again beside its test: what lies
    between is the test of all members. That of the first epoch is left out, for it compiles.

    Args:
      n: how many images it was asked of at the end of an epoch: the test images, and those held
        out.
    """
    took = []
    for before, line in pairwise(history):
        ends = line.get("kind") == "epoch" and before.get("kind") == "steps"
        times = before.get("seconds"), line.get("seconds")
        if ends and line.get("epoch", 1) > 1 and None not in times:
            took.append(float(line["seconds"]) - float(before["seconds"]))
    each = statistics.median(took) / members / n * _TIMED_IMAGES if took else 0.0
    return each if each > 0 else None


def _tabulate_committee_costs(
    judged: CommitteeEvaluation, name: str, beyond: Extrapolation | None, epoch: EvaluatedEpoch
) -> pd.DataFrame:
    """A row for each size: the expected figure, what the last member brought, and what it takes."""
    mean = committees.committee_curve(judged, name).mean
    committee_metrics = [format_committee_metric(value, name, judged.n) for value in mean]
    gained = ["–", *(describe_size_gain(last, now, name) for last, now in pairwise(mean))]
    size = [str(number) for number in range(1, judged.members + 1)]
    if beyond:
        rows = np.unique(np.linspace(0, len(beyond.size) - 1, _MAX_EXPECTED_ROWS).round().astype(int))
        size += [f"{beyond.size[row]} ({EXPECTED_LABEL})" for row in rows]
        committee_metrics += [
            f"{formats.format_significant(beyond.mean[row])} "
            f"({formats.format_significant(beyond.low[row])} to "
            f"{formats.format_significant(beyond.high[row])})"
            for row in rows
        ]
        all_of_it = np.concatenate([mean[-1:], beyond.mean])
        gained += [describe_size_gain(all_of_it[row], all_of_it[row + 1], name) for row in rows]
    columns = {"members": size, METRIC_NAMES[name]: committee_metrics, "by the last one": gained}
    return pd.DataFrame(columns | _list_cost_columns(epoch, [int(one.split()[0]) for one in size]))


def _list_cost_columns(epoch: EvaluatedEpoch, sizes: Sequence[int]) -> dict[str, list[str]]:
    """Columns of what training and predicting take, in proportion; only those that are known."""
    found: dict[str, list[str]] = {}
    if seconds := epoch.run.status.seconds:
        found["training, about"] = [formats.format_duration(seconds / epoch.members * k) for k in sizes]
    asked = epoch.n + (len(epoch.fit.labels) if epoch.fit else 0)
    if each := measure_prediction_time(epoch.read_history(), epoch.members, asked):
        found[f"{_TIMED_IMAGES:,} {pluralize_noun(epoch.noun)}, about"] = [
            formats.format_duration(each * k, fine=True) for k in sizes
        ]
    return found


def describe_size_gain(before: float, after: float, name: str) -> str:
    """What a figure gained, in words and with a mark: "▲ better by 0.012"."""
    better = after - before if name == "accuracy" else before - after
    size = formats.format_significant(abs(better) * (100 if name == "accuracy" else 1), 2)
    if not better:
        return "nothing"
    unit = " points" if name == "accuracy" else ""
    return f"{'▲ better' if better > 0 else '▼ worse'} by {size}{unit}"


def _explain_committee_costs(
    judged: CommitteeEvaluation, beyond: Extrapolation | None, name: str, known: Sequence[str]
) -> str:
    parts = [
        "The gain of the last member is a mean over committees, on these same images; only the "
        "verdict says whether it is more than chance.",
        "Times are those of this run, divided evenly: members on one processor share it.",
    ]
    if not any(column.startswith(f"{_TIMED_IMAGES:,}") for column in known):
        parts.append("This run did not measure how long predicting takes.")
    if beyond:
        parts.append(
            f"{EXPECTED_LABEL.capitalize()}: fitted to the curve as a + b · k^(−{beyond.power:.2f}); "
            "in brackets the 95 % interval of the change, by jackknife over members and images."
        )
    elif name in ("accuracy", "ece"):
        parts.append(
            f"From the {METRIC_NAMES[name]} of these committees it cannot be told what more members would bring."
        )
    elif judged.members < 3:
        parts.append("Two members are too few to tell what more would bring.")
    return " ".join(parts)
