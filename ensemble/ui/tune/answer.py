"""What a sweep has found so far: its best settings, what they came to, and on which images."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import streamlit as st

from ensemble import runs, sweeps
from ensemble.comparison.trial_verdict import describe_trial_settings, judge_trials
from ensemble.config import CLASSIFICATION
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.errors import RunError
from ensemble.figures.comparison.trial_columns import OBJECTIVE_TITLES, format_objective
from ensemble.sweeps import OBJECTIVES, Sweep, Trial
from ensemble.sweeps.best_trials import list_edge_settings
from ensemble.ui.tune import loader
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.verdicts import best_trial as words
from ensemble.wording.verdicts.settings_verdict import describe_settings_verdict, list_settings_evidence

_STATE_LABELS = {"complete": "complete", "running": "running", "pruned": "pruned (ended early)", "failed": "failed"}
_OPTIMISM_HELP = (
    "The best of several looks better than it is on the images that it was chosen on: chance helps "
    "the winner. The test images had no part in the choice."
)


def show_sweep_answer(sweep: Sweep, trials: Sequence[Trial]) -> None:
    best = sweeps.find_best_trial(sweep, list(trials)) if trials else None
    # All trials' predictions are read for it: once, when no more are to come.
    evidence = None if sweep.active else loader.load_best_trial_evidence(sweep, trials)
    if best is None:
        st.markdown("#### No trial has finished yet")
    else:
        goal, run = sweep.config.objective_names[0], find_trial_run(best)
        verdict = judge_trials(evidence, goal) if evidence else None
        answer = describe_settings_verdict(verdict) if verdict else _describe_best_settings(sweep, trials, best)
        st.markdown(f"#### {escaping.escape_markdown(answer)}")
        sentences = list_settings_evidence(verdict, run.data.noun if run else "image") if verdict else []
        if verdict and len(sweep.config.objective_names) > 1:
            sentences.insert(0, _describe_best_settings(sweep, trials, best))
        sentences.append(words.describe_edge_settings(list_edge_settings(sweep.config.search_axes, best.params)))
        if text := " ".join(filter(None, sentences)):
            st.markdown(escaping.escape_markdown(text))
    with st.container(horizontal=True, gap="medium", key="tune_answer"):
        if best:
            _show_objective_metrics(sweep, trials, best)
            _show_trial_test_accuracy(best, sweep.config.repeats)
        _show_sweep_time(sweep)
    sentence = _describe_trial_counts(sweep, trials)
    if best and sweep.config.objective_names != ("seconds",):
        sentence += f" {_describe_selection_bias(sweep, trials)}"
        optimism = words.describe_selection_optimism(evidence, sweep.config.objective_names[0])
        sentence = f"{sentence} {optimism}".rstrip()
    st.caption(escaping.escape_markdown(sentence))


def _describe_best_settings(sweep: Sweep, trials: Sequence[Trial], best: Trial) -> str:
    """Name the trial with the best value of the first objective; of several objectives, also count the front."""
    goal = sweep.config.objective_names[0]
    so_far = " so far" if sweep.active else ""
    extreme = "lowest" if OBJECTIVES[goal].minimize else "highest"
    named = f"{extreme} {OBJECTIVE_TITLES[goal]}{so_far}: {describe_trial_settings(best)} (trial {best.number + 1})"
    if len(sweep.config.objective_names) == 1:
        return named[:1].upper() + named[1:]
    front = formats.format_count(len(sweeps.find_pareto_trials(sweep, list(trials))), "trial")
    return f"{front} on the Pareto front{so_far}; {named}."


def _show_objective_metrics(sweep: Sweep, trials: Sequence[Trial], best: Trial) -> None:
    complete = sum(trial.state == "complete" for trial in trials)
    for place, (goal, value) in enumerate(zip(sweep.config.objective_names, best.values, strict=True)):
        label = OBJECTIVE_TITLES[goal][0].upper() + OBJECTIVE_TITLES[goal][1:]
        if not place:
            label += f", best of {complete:,}"
        if sweep.config.repeats > 1:
            label += f", mean of {sweep.config.repeats:,} seeds"
        st.metric(
            label, format_objective(goal, value), width="content", help=_OPTIMISM_HELP if goal != "seconds" else None
        )


def _show_trial_test_accuracy(best: Trial, repeats: int) -> None:
    if repeats > 1:
        return _show_mean_test_accuracy(best)
    if (run := find_trial_run(best)) is None or run.training_config is None:
        return
    share, size = run.status.best_ensemble_test_accuracy, run.data.test_size
    if share is None:
        return
    label = f"Its ensemble on {formats.format_count(size, f'test {run.data.noun}')}"
    st.metric(
        label,
        f"{formats.format_percent(share, size)} {formats.format_wilson_interval(share, size)}",
        width="content",
        help="Accuracy with its 95 % Wilson interval, after the epoch that the validation images chose.",
    )


def _show_mean_test_accuracy(best: Trial) -> None:
    trained = [run for run_id in best.run_ids if (run := _find_run_or_none(run_id))]
    shares = [share for run in trained if (share := run.status.best_ensemble_test_accuracy) is not None]
    if not shares:
        return
    size, seeds = trained[0].data.test_size, formats.format_count(len(shares), "seed")
    low, high = (formats.format_percent(share, size).removesuffix(" %") for share in (min(shares), max(shares)))
    images = formats.format_count(size, f"test {trained[0].data.noun}")
    st.metric(
        f"Its ensembles on {images}, mean of {seeds}",
        f"{formats.format_percent(fmean(shares), size)} ({low} to {high} over {seeds})",
        width="content",
        help="Mean accuracy over its trainings, and the lowest and highest, each after the epoch "
        "that the validation images chose.",
    )


def _find_run_or_none(run_id: str) -> runs.Run | None:
    """The run; None where it cannot be read."""
    try:
        return runs.find_run(run_id)
    except RunError:
        return None


def find_trial_run(trial: Trial) -> runs.Run | None:
    """The first run of a trial; None where there is none to be read."""
    return _find_run_or_none(trial.run_id) if trial.run_id else None


def _show_sweep_time(sweep: Sweep) -> None:
    status = sweep.status
    if sweep.state == "searching":
        left = jobs_words.count_down_seconds_left(status)
        st.metric(
            "Time left",
            "–" if left is None else formats.format_duration(max(0.0, left)),
            width="content",
            help="Known after the first trial.",
        )
    elif status.started and not sweep.active:
        st.metric("Searched for", formats.format_duration(status.updated - status.started), width="content")


def _describe_trial_counts(sweep: Sweep, trials: Sequence[Trial]) -> str:
    """How the trials stand, in words: "6 complete, 2 pruned, 1 failed, 3 to come"."""
    state_counts = Counter(trial.state for trial in trials)
    begun = [trial for trial in trials if trial.run_id or trial.state != "waiting"]
    cut = sum(trial.state == "waiting" for trial in begun)
    parts = [f"{state_counts[state]:,} {word}" for state, word in _STATE_LABELS.items() if state_counts[state]]
    parts += [f"{cut:,} interrupted, will resume"] if cut else []
    if (left := sweep.config.trial_count - len(begun)) > 0:
        parts.append(f"{left:,} to come")
    if state_counts["complete"] == sweep.config.trial_count:
        return f"All {formats.format_count(sweep.config.trial_count, 'trial')} are complete."
    return f"Of {formats.format_count(sweep.config.trial_count, 'trial')}: {', '.join(parts)}."


def _describe_selection_bias(sweep: Sweep, trials: Sequence[Trial]) -> str:
    info = sweep.config.base
    complete = sum(trial.state == "complete" for trial in trials)
    images = "validation images" if info.task == CLASSIFICATION else "validation rows"
    run = next(filter(None, map(find_trial_run, trials)), None)
    if run and info.task == CLASSIFICATION:
        aside = count_holdout_images(run.data.train_size, info.validation)
        images = formats.format_count(aside, f"validation {run.data.noun}")
    figures = formats.format_count(complete, "figure")
    what = "images" if info.task == CLASSIFICATION else "rows"
    if sweep.config.repeats > 1:
        figures, images = formats.format_count(complete, "mean"), f"{images} of each seed"
    return f"The best of {figures} on {images} looks better than it is; the test {what} chose nothing."
