"""A sweep's best trial in words: the next one, groups, edges of the search, optimism, test figures."""

from collections.abc import Mapping, Sequence

from ensemble.comparison.compared_settings import humanize_setting_name
from ensemble.comparison.settings_verdict import SettingsVerdict
from ensemble.comparison.trial_verdict import describe_trial_settings, judge_trials
from ensemble.config import REGRESSION
from ensemble.sweeps import Sweep, Trial
from ensemble.sweeps.best_trials import BestTrialEvidence, list_edge_settings
from ensemble.sweeps.test_figures import TrialTestFigure, measure_test_figures
from ensemble.wording import formats
from ensemble.wording.verdicts.settings_verdict import METRIC_TITLES, describe_settings_verdict, list_settings_evidence

_EDGE_NAMES = {"lowest": "lower", "highest": "upper"}
_MIN_OPTIMISM = 0.0001  # nats, or a share; of an error in a unit that share of it: less is not worth a sentence


def get_example_noun(sweep: Sweep) -> str:
    """Return the noun for one validation example of a sweep, if its dataset has none of its own."""
    return "row" if sweep.config.base.task == REGRESSION else "image"


def list_best_trial_sentences(sweep: Sweep, best: Trial, evidence: BestTrialEvidence | None) -> list[str]:
    """List the findings about the best trial of an ended sweep: the verdict first, test figures last."""
    goal, noun = sweep.config.objective_names[0], get_example_noun(sweep)
    sentences = [describe_selection_optimism(evidence, goal, noun)]
    if evidence:
        verdict = judge_trials(evidence, goal)
        sentences = [describe_settings_verdict(verdict), *list_trial_evidence(evidence, verdict, noun), *sentences]
    sentences.append(describe_edge_settings(list_edge_settings(sweep.config.search_axes, best.params)))
    sentences += [f"{label}: {figure}." for label, figure in list_test_figures(measure_test_figures(best.run_ids))]
    return list(filter(None, sentences))


def list_trial_evidence(evidence: BestTrialEvidence, verdict: SettingsVerdict, noun: str) -> list[str]:
    """List what the answer rests on, as `list_settings_evidence` does, with the next trial and groups.

    Args:
      noun: of one validation example, such as "digit" or "row".
    """
    first, *rest = list_settings_evidence(verdict, noun)
    return [first, _describe_next_trial(evidence, verdict.metric), *rest, *_list_group_sentences(evidence, noun)]


def _describe_next_trial(evidence: BestTrialEvidence, goal: str) -> str:
    second = evidence.next
    scale = 100 if goal == "accuracy" else 1
    difference, low, high = (
        formats.format_significant(scale * value, 2).replace("-", "−")
        for value in (second.difference, second.low, second.high)
    )
    if unit := _get_unit(evidence, goal):
        difference = f"{difference} {unit}"
    shown = "a significant difference" if second.trial in evidence.worse else "which is not significant"
    return (
        f"Next is {describe_trial_settings(second.trial)} (trial {second.trial.number + 1}): its validation "
        f"{METRIC_TITLES[goal]} is {difference} {'lower' if goal == 'accuracy' else 'higher'}, {shown} "
        f"(95 % interval over all pairs: {low} to {high})."
    )


def _get_unit(evidence: BestTrialEvidence, goal: str) -> str:
    return {"nll": "nats", "accuracy": "points"}.get(goal, evidence.unit)


def _list_group_sentences(evidence: BestTrialEvidence, noun: str) -> list[str]:
    if evidence.groups is None:
        return []
    examples, groups = formats.format_count(evidence.images, noun), formats.format_count(evidence.groups, "group")
    return [f"The {examples} form {groups}, each of which counts as one."]


def describe_edge_settings(ends: Mapping[str, str]) -> str:
    """That a best value stands at an end of what was searched; "" where none does."""
    sentences = [
        f"{humanize_setting_name(name).capitalize()} is at the {_EDGE_NAMES[end]} end of the "
        "search: better values may lie beyond."
        for name, end in ends.items()
    ]
    return " ".join(sentences)


def describe_selection_optimism(evidence: BestTrialEvidence | None, goal: str, noun: str = "image") -> str:
    """Describe what the best figure is expected to lose on new examples; "" if that is unknown."""
    if evidence is None or evidence.optimism is None:
        return ""
    least = _MIN_OPTIMISM * (abs(evidence.best.values[0]) if goal in ("rmse", "crps") else 1)
    if evidence.optimism < least:
        return ""
    new = f"on new {formats.pluralize_noun(noun)}"
    if goal == "accuracy":
        points = formats.format_significant(100 * evidence.optimism, 2)
        return f"Having been chosen, it is expected to lose about {points} points {new}."
    amount = formats.format_significant(evidence.optimism, 2)
    return (
        f"Having been chosen, it is expected to rise by about {amount} {_get_unit(evidence, goal)}".rstrip()
        + f" {new}."
    )


def list_test_figures(figures: Sequence[TrialTestFigure]) -> list[tuple[str, str]]:
    """List the test figures of the best trial: labels, and figures with their interval or range."""
    return [(_format_test_label(figure), _format_test_figure(figure)) for figure in figures]


def _format_test_label(figure: TrialTestFigure) -> str:
    title = "" if figure.metric == "accuracy" else f", {METRIC_TITLES[figure.metric]}"
    title += f" in {figure.unit}" if figure.unit else ""
    examples = formats.format_count(figure.examples, f"test {figure.noun}")
    if figure.trainings == 1:
        return f"Its ensemble on {examples}{title}"
    return f"Its ensembles on {examples}{title}, mean of {formats.format_count(figure.trainings, 'seed')}"


def _format_test_figure(figure: TrialTestFigure) -> str:
    over = f" over {formats.format_count(figure.trainings, 'seed')}" if figure.trainings > 1 else ""
    if figure.metric != "accuracy":
        mean, low, high = (
            formats.format_significant(value).replace("-", "−") for value in (figure.mean, figure.low, figure.high)
        )
        return f"{mean} ({'' if over else '95 %: '}{low} to {high}{over})"
    mean = formats.format_percent(figure.mean, figure.examples)
    if not over:
        return f"{mean} {formats.format_share_interval(figure.mean, figure.low, figure.high, figure.examples)}"
    low, high = (formats.format_percent(end, figure.examples).removesuffix(" %") for end in (figure.low, figure.high))
    return f"{mean} ({low} to {high}{over})"
