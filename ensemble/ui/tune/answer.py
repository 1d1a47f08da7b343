"""What a sweep has found so far: its best settings, what they came to, and on which images."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ensemble import runs, sweeps
from ensemble.comparison.trial_verdict import describe_trial_settings, judge_trials
from ensemble.config import CLASSIFICATION, REGRESSION
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.errors import RunError
from ensemble.figures.comparison.trial_columns import OBJECTIVE_TITLES, format_objective
from ensemble.sweeps import OBJECTIVES, Sweep, Trial
from ensemble.sweeps.best_trials import list_edge_settings
from ensemble.sweeps.test_figures import measure_test_figures
from ensemble.tables.prepared_table import read_table_description
from ensemble.ui.tune import loader
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.verdicts import best_trial as words
from ensemble.wording.verdicts.settings_verdict import describe_settings_verdict

_STATE_LABELS = {"complete": "complete", "running": "running", "pruned": "pruned (ended early)", "failed": "failed"}
_OPTIMISM_HELP = (
    "The best of several looks better than it is on the images that it was chosen on: chance helps "
    "the winner. The test examples had no part in the choice."
)
_TEST_HELP = (
    "After the epoch that the validation examples chose, with its 95 % interval for new examples; over "
    "several seeds, the lowest and the highest training."
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
        noun = run.data.noun if run and run.task == CLASSIFICATION else words.get_example_noun(sweep)
        sentences = words.list_trial_evidence(evidence, verdict, noun) if evidence and verdict else []
        if verdict and len(sweep.config.objective_names) > 1:
            sentences.insert(0, _describe_best_settings(sweep, trials, best))
        sentences.append(words.describe_edge_settings(list_edge_settings(sweep.config.search_axes, best.params)))
        if text := " ".join(filter(None, sentences)):
            st.markdown(escaping.escape_markdown(text))
    with st.container(horizontal=True, gap="medium", key="tune_answer"):
        if best:
            _show_objective_metrics(sweep, trials, best)
            figures = loader.compute_once("test", best.run_ids, lambda: measure_test_figures(best.run_ids))
            for label, figure in words.list_test_figures(figures):
                st.metric(label, figure, width="content", help=_TEST_HELP)
        _show_sweep_time(sweep)
    sentence = _describe_trial_counts(sweep, trials)
    if best and sweep.config.objective_names != ("seconds",):
        sentence += f" {_describe_selection_bias(sweep, trials)}"
        goal, noun = sweep.config.objective_names[0], words.get_example_noun(sweep)
        optimism = words.describe_selection_optimism(evidence, goal, noun)
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
    what = formats.pluralize_noun(words.get_example_noun(sweep))
    images = f"validation {what}"
    if info.task == REGRESSION:
        images = formats.format_count(read_table_description(sweep.path).validation, "validation row")
    elif run := next(filter(None, map(find_trial_run, trials)), None):
        aside = count_holdout_images(run.data.train_size, info.validation)
        images = formats.format_count(aside, f"validation {run.data.noun}")
    figures = formats.format_count(complete, "figure")
    if sweep.config.repeats > 1:
        figures, images = formats.format_count(complete, "mean"), f"{images} of each seed"
    return f"The best of {figures} on {images} looks better than it is; the test {what} chose nothing."
