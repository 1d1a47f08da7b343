"""What can be done with a sweep: use its best, try it with other seeds, go on, delete it."""

from collections.abc import Callable, Sequence

import streamlit as st

from ensemble import runs, sweeps
from ensemble.access import Action
from ensemble.config import REGRESSION, RegressionConfig
from ensemble.runs.annotations.tags import write_tags
from ensemble.runs.numeric.numeric_launch import create_run_with_table, fit_config_to_folder
from ensemble.runs.store import RUN_STORE
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.jobs import deletion
from ensemble.ui.shared import address, loaders, seed_launch, settings, widget_state
from ensemble.ui.sign_in import rights
from ensemble.ui.tune import answer, hyper_deep
from ensemble.ui.tune.screen import SWEEP_SCREEN, get_trial_page
from ensemble.wording import formats

SEED_COUNT = 5
_MORE_TRIALS_KEY, _MAX_MORE_TRIALS = "tune_more_trials", 1000


def show_sweep_actions(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """The buttons; those for the best stand there once there is one."""
    deletion.show_job_action_problem(SWEEP_SCREEN)
    best = sweeps.find_best_trial(sweep, list(trials)) if trials else None
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="tune_actions"):
        if best:
            _show_best_settings_button(sweep, best)
        if any(trial.run_id for trial in trials):
            st.page_link(
                "pages/compare.py",
                label="Compare these trials",
                width="content",
                icon=":material/compare_arrows:",
                query_params=address.SWEEP.build_query(sweep.id),
            )
        _show_further_actions(sweep, trials, best)
    hyper_deep.show_hyper_deep_runs(sweep)


def _show_further_actions(sweep: Sweep, trials: Sequence[Trial], best: Trial | None) -> None:
    """What comes after, in one popover: more trials, more seeds, an ensemble of all members."""
    more_trials = sweep.config.sampler != "grid"
    ended = None if sweep.active else best  # What follows is for the best of all.
    if not more_trials and ended is None:
        return
    with st.popover("Go on", icon=":material/add:", key="tune_go_on"):
        if more_trials:
            st.markdown("**More trials**")
            _show_more_trials(sweep)
        if ended:
            st.markdown("**More seeds**")
            _show_seeds_button(sweep, ended)
            hyper_deep.show_hyper_deep_builder(sweep, trials, _attempt_sweep_action)


def show_sweep_deletion(sweep: Sweep) -> None:
    if deletion.is_deletion_requested(SWEEP_SCREEN, sweep):
        deletion.show_delete_confirmation(SWEEP_SCREEN, sweep)
    else:
        deletion.show_delete_button(SWEEP_SCREEN, sweep)


def _show_best_settings_button(sweep: Sweep, best: Trial) -> None:
    page = "Numbers" if sweep.config.base.task == REGRESSION else "Train"
    pressed = st.button(
        "Launch with the best settings",
        key="tune_use_best",
        icon=":material/model_training:",
        type="primary" if sweep.state == "finished" else "secondary",
        help=f"Goes to {page} with these settings filled in, validation share and all; set that to 0 "
        "there to learn from every training example.",
    )
    if pressed:
        run = answer.find_trial_run(best)  # It may have been deleted.
        settings.fill_run_settings(sweep.config.build_trial_config(best.params), "the best trial of the sweep")
        st.switch_page(get_trial_page(sweep), query_params=address.RUN.build_query(run.id) if run else {})


def _format_seeds_tag(sweep: Sweep, best: Trial) -> str:
    return f"{sweep.id}-seeds-{best.number + 1}"


def _show_seeds_button(sweep: Sweep, best: Trial) -> None:
    name = _format_seeds_tag(sweep, best)
    if any(name in run.tags for run in loaders.list_cached_runs(sweep.config.base.task)):
        st.page_link(
            "pages/compare.py",
            label="Compare its seeds",
            width="content",
            icon=":material/casino:",
            query_params=address.TAG.build_query(name),
        )
        return
    st.button(
        f"Train it with {SEED_COUNT} more seeds",
        key="tune_seeds",
        icon=":material/casino:",
        on_click=_attempt_sweep_action,
        args=(lambda: _launch_best_trial_seeds(sweep, best),),
        **rights.build_control_arguments(
            Action.LAUNCH,
            help=f"Trains the best settings {SEED_COUNT} times with seeds that had no "
            "part in the choice: what they come to on average is not flattered by it.",
        ),
    )


def _launch_best_trial_seeds(sweep: Sweep, best: Trial) -> None:
    config = sweep.config.build_trial_config(best.params)
    used = {sweep.config.build_trial_config(best.params, repeat).seed for repeat in range(sweep.config.repeats)}
    for other in seed_launch.list_missing_seeds(config, used, SEED_COUNT):
        if isinstance(other, RegressionConfig):
            other = fit_config_to_folder(other, sweep.path)
            RUN_STORE.start_worker(create_run_with_table(other, sweep.path, [_format_seeds_tag(sweep, best)]))
        else:
            run = runs.launch_run(other)
            write_tags(run.id, [_format_seeds_tag(sweep, best)])
    loaders.forget_runs()


def _show_more_trials(sweep: Sweep) -> None:
    widget_state.initialize_widget(_MORE_TRIALS_KEY, sweep.config.trials)
    count = widget_state.draw_widget(st.number_input, "How many more", 1, _MAX_MORE_TRIALS, key=_MORE_TRIALS_KEY)
    st.button(
        f"Add {formats.format_count(count, 'trial')}",
        key="tune_enlarge",
        on_click=_attempt_sweep_action,
        args=(lambda: sweeps.enlarge_sweep(sweep.id, count),),
        **rights.build_control_arguments(Action.CHANGE, sweep.path),
    )


def _attempt_sweep_action(act: Callable[[], object]) -> None:
    """Callback: do it, or keep the reason why it cannot be done."""
    deletion.attempt_job_action(SWEEP_SCREEN, act)
