"""Which settings are best, in words: an answer with one claim, and the evidence below it."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ensemble.comparison.compared_settings import format_setting_value, humanize_setting_name
from ensemble.comparison.settings_verdict import COST_SECONDS, JudgedGroup, SettingsVerdict
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

MAX_ANSWER_LETTERS = 90
_SEEDS_TO_COMPARE = 3  # of each of two settings, from which on their difference may be shown
_MAX_NAMED_GROUPS = 3  # in a sentence
METRIC_TITLES = {"nll": "NLL", "pinball": "pinball loss", "rmse": "RMSE", "crps": "CRPS", "accuracy": "accuracy"}
_PLURAL_SETTINGS = {"learning_rate": "learning rates", "batch_size": "batch sizes"}
_COUNTED_SETTINGS = ("members", "epochs")
_BASELINE_REASONS = {
    "chosen": "which was chosen",
    "pinned": "which is pinned on Runs",
    "default settings": "the default settings",
    "first": "the first group",
}


def describe_settings_verdict(verdict: SettingsVerdict, *, so_far: bool = False) -> str:
    """Say which settings are best, in at most `MAX_ANSWER_LETTERS` letters.

    Args:
      so_far: whether some of the runs are still being trained.
    """
    sentence = _describe_answer(verdict)
    return f"So far, {sentence}" if so_far else sentence[:1].upper() + sentence[1:]


def list_settings_evidence(verdict: SettingsVerdict, noun: str) -> list[str]:
    """List what the answer rests on: the best mean, the worse groups, costs, missing seeds, and the images.

    Args:
      noun: of one image, such as "digit".
    """
    return list(
        filter(
            None,
            (
                _describe_best_mean(verdict),
                _describe_worse_groups(verdict),
                _describe_costs(verdict),
                _describe_missing_seeds(verdict),
                _describe_images(verdict, noun),
            ),
        )
    )


def describe_baseline(verdict: SettingsVerdict) -> str:
    """Name the baseline, and why it is that group; "" if there is none."""
    if verdict.baseline is None:
        return ""
    title, reason = verdict.baseline.group.title, verdict.baseline.reason
    return f"The baseline is {title}, {_BASELINE_REASONS[reason]}."


def serialize_settings_verdict(verdict: SettingsVerdict | None, noun: str) -> dict[str, Any] | None:
    """Return the verdict with its sentences, ready for JSON; None of None."""
    if verdict is None:
        return None
    return {
        "metric": verdict.metric,
        "split": verdict.split,
        "images": verdict.images,
        "about": "settings" if verdict.is_about_settings else "runs",
        "best": verdict.best.key,
        "remaining": [group.key for group in verdict.remaining],
        "worse": [group.key for group in verdict.worse],
        "cheapest": [group.key for group in verdict.cheapest],
        "cost_unit": verdict.cost_unit,
        "more_seeds": verdict.more_seeds,
        "more_seeds_for_last": verdict.more_seeds_for_last,
        "tests": verdict.tests,
        "sweep": verdict.sweep or None,
        "baseline_reason": verdict.baseline.reason if verdict.baseline else None,
        "groups": [
            {"key": group.key, "title": group.title, "seeds": group.seeds, "mean": group.mean, "cost": group.cost}
            for group in verdict.groups
        ],
        "answer": describe_settings_verdict(verdict),
        "evidence": list_settings_evidence(verdict, noun),
    }


def _describe_answer(verdict: SettingsVerdict) -> str:
    if not verdict.is_about_settings:
        return "one run per setting does not show which settings are better."
    metric = f"{verdict.split} {METRIC_TITLES[verdict.metric]}"
    if len(verdict.remaining) > 1:
        by = f"cannot be told apart by {metric}."
        return _choose_short_sentence(f"{_name_remaining_groups(verdict)} {by}", f"{_count_remaining(verdict)} {by}")
    lower = "higher" if verdict.metric == "accuracy" else "lower"
    if len(verdict.groups) == 2:
        (other,) = verdict.worse
        return _choose_short_sentence(
            f"{verdict.best.title} has a {lower} {metric} than {other.title}.",
            f"one of the 2 settings has a {lower} {metric}.",
        )
    count = f"{len(verdict.groups):,}"
    lowest = _name_extreme(verdict)
    return _choose_short_sentence(
        f"{verdict.best.title} has the {lowest} {metric} of all {count} settings.",
        f"one of the {count} settings has the {lowest} {metric}.",
    )


def _choose_short_sentence(sentence: str, shorter: str) -> str:
    """The first if it leaves room for "So far, ", else the second."""
    return sentence if len(f"So far, {sentence}") <= MAX_ANSWER_LETTERS else shorter


def _name_extreme(verdict: SettingsVerdict) -> str:
    return "highest" if verdict.metric == "accuracy" else "lowest"


def _count_remaining(verdict: SettingsVerdict) -> str:
    remaining, count = len(verdict.remaining), len(verdict.groups)
    return f"the {count:,} settings" if remaining == count else f"the best {remaining:,} of {count:,} settings"


def _name_remaining_groups(verdict: SettingsVerdict) -> str:
    """Name a range of one numeric setting, else two groups by their titles, else how many they are."""
    names = {name for group in verdict.groups for name in group.values}
    differing = [name for name in names if len({repr(group.values.get(name)) for group in verdict.groups}) > 1]
    if len(differing) == 1 and (named := _name_value_range(verdict, differing[0])):
        return named
    if len(verdict.remaining) == 2:
        return " and ".join(group.title for group in verdict.remaining)
    return _count_remaining(verdict)


def _name_value_range(verdict: SettingsVerdict, name: str) -> str:
    """Name "learning rates from 0.03 to 0.1"; "" if values are not numbers, or one between the ends is worse."""
    numbers = {
        group.key: value
        for group in verdict.groups
        if isinstance(value := group.values.get(name), int | float) and not isinstance(value, bool)
    }
    if len(numbers) < len(verdict.groups):
        return ""
    own = sorted(numbers[group.key] for group in verdict.remaining)
    low, high = own[0], own[-1]
    if len(own) != sum(low <= value <= high for value in numbers.values()):
        return ""
    ends = [format_setting_value(name, value) for value in (low, high)]
    if name in _COUNTED_SETTINGS:
        return f"{' to '.join(ends) if len(own) > 2 else ' and '.join(ends)} {name}"
    plural = _PLURAL_SETTINGS.get(name, f"{humanize_setting_name(name)} values")
    return f"{plural} from {' to '.join(ends)}" if len(own) > 2 else f"{plural} {' and '.join(ends)}"


def _format_mean(verdict: SettingsVerdict, group: JudgedGroup) -> str:
    if verdict.metric == "accuracy":
        return formats.format_percent(group.mean, verdict.images)
    return formats.format_significant(group.mean)


def _describe_best_mean(verdict: SettingsVerdict) -> str:
    best = verdict.best
    metric = f"{verdict.split} {METRIC_TITLES[verdict.metric]}"
    value = _format_mean(verdict, best)
    if verdict.is_about_settings:
        seeds = formats.format_count(best.seeds, "seed")
        caution = "" if len(verdict.remaining) == 1 else ", which does not show that it is better"
        return f"The {_name_extreme(verdict)} mean is that of {best.title}: {value} over {seeds}{caution}."
    others = len(verdict.groups) - 1
    open_ = len(verdict.remaining) - 1
    if not open_:
        rest = {1: "the other is", 2: "both others are"}.get(others, f"all {others:,} others are")
        rest += " significantly worse"
    elif others == 1:
        rest = "the other is not shown to be worse"
    elif others == open_:
        rest = f"{'neither' if others == 2 else 'none'} of the {others:,} others is shown to be worse"
    else:
        rest = f"{open_:,} of the {others:,} others {'is' if open_ == 1 else 'are'} not shown to be worse"
    return f"In these runs, {best.title} has the {_name_extreme(verdict)} {metric}, {value}; {rest}."


def _describe_worse_groups(verdict: SettingsVerdict) -> str:
    worse = verdict.worse
    if not worse or not verdict.is_about_settings or len(verdict.remaining) == 1:
        return ""
    return f"Shown to be worse: {_list_titles(worse)}."


def _describe_costs(verdict: SettingsVerdict) -> str:
    cheapest = verdict.cheapest
    if not cheapest:
        return ""
    if len(cheapest) == len(verdict.remaining):
        return "These settings cost about the same to train."
    by = f"by {verdict.cost_unit}"
    if verdict.cost_unit == COST_SECONDS:
        by = f"{formats.format_duration(fmean(group.cost or 0.0 for group in cheapest))} of training per run"
    sentence = f"{_list_titles(cheapest)} {'is' if len(cheapest) == 1 else 'are'} the cheapest of them, {by}."
    return sentence[:1].upper() + sentence[1:]


def _describe_missing_seeds(verdict: SettingsVerdict) -> str:
    if not verdict.is_about_settings:
        return f"Another seed may change the order: a verdict on settings needs {_SEEDS_TO_COMPARE} seeds of each."
    if len(verdict.remaining) == 1:
        return ""
    best, second = verdict.remaining[:2]
    between = f"between {best.title} and {second.title}"
    if best.seeds == second.seeds == 1:
        return f"{_SEEDS_TO_COMPARE} seeds of each are needed to decide {between}."
    if verdict.more_seeds is None:
        return f"More seeds alone would hardly decide {between}: the difference is too small."
    seeds = formats.format_count(verdict.more_seeds, "more seed")
    if (fewer := verdict.more_seeds_for_last) and fewer < verdict.more_seeds:
        first = formats.format_count(fewer, "more seed")
        last = verdict.remaining[-1].title
        return (
            f"About {first} of each would show that {last} is worse, and about {verdict.more_seeds:,} would "
            f"decide {between}, if the differences are as large as here."
        )
    return f"About {seeds} of each would decide {between}, if the difference is as large as here."


def _describe_images(verdict: SettingsVerdict, noun: str) -> str:
    images = f"{verdict.images:,} {verdict.split} {pluralize_noun(noun) if verdict.images != 1 else noun}"
    text = f"Measured on {images}, on which the best was chosen"
    alone = [group for group in verdict.groups if group.seeds == 1]
    if verdict.is_about_settings and len(alone) == len(verdict.groups):
        text += ". With one run each, independent members show how much other seeds would differ"
    elif verdict.is_about_settings and alone:
        text += (
            f". With one run, {_list_titles(alone)} {'is' if len(alone) == 1 else 'are'} taken to vary as the others do"
        )
    text += ". Over all pairs, the chance of a wrong claim is at most 5 %."
    if verdict.sweep:
        examples = "rows" if noun == "row" else "images"
        text += f" Tune compares the trials of {verdict.sweep} on validation {examples}, so its answer may differ."
    return text


def _list_titles(groups: Sequence[JudgedGroup]) -> str:
    if len(groups) > _MAX_NAMED_GROUPS:
        return f"{len(groups):,} settings"
    return " and ".join(group.title for group in groups)
