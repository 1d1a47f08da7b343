"""A hyper-deep ensemble of a sweep: the members of all its trials that go best together."""

from collections.abc import Callable, Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.config import REGRESSION
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.sweeps import Sweep, Trial, selection
from ensemble.sweeps.test_figures import measure_test_figures
from ensemble.tables.prepared_table import read_table_description
from ensemble.ui.shared import address, loaders, settings, widget_state
from ensemble.ui.sign_in import rights
from ensemble.ui.tune import loader
from ensemble.wording import escaping, formats
from ensemble.wording.verdicts.best_trial import list_test_figures

_SIZE_KEY, _REPEATS_KEY, _DEFAULT_SIZE = "tune_members", "tune_again", 4
_MAX_MEMBERS = settings.RUN_FIELDS["members"].metadata["high"]
_AttemptAction = Callable[[Callable[[], object]], None]
_HYPER_DEEP_HELP = (
    "The members of all trials are tried one after the other, and each time the one is taken with "
    "which the ensemble's validation NLL is lowest (Wenzel et al. 2020)."
)


def show_hyper_deep_builder(sweep: Sweep, trials: Sequence[Trial], attempt: _AttemptAction) -> None:
    """How many members, and the button; nothing before there are members to choose from."""
    complete = [trial for trial in trials if trial.state == "complete"]
    if not complete or not sweep.config.base.validation:
        return
    st.markdown("**Hyper-deep ensemble**", help=_HYPER_DEEP_HELP)
    widget_state.initialize_widget(_SIZE_KEY, _DEFAULT_SIZE)
    size = widget_state.draw_widget(st.number_input, "Members", 1, _MAX_MEMBERS, key=_SIZE_KEY)
    again = widget_state.draw_widget(st.toggle, "A member may be taken more than once", key=_REPEATS_KEY)
    st.button(
        f"Build it of {formats.format_count(size, 'member')}",
        key="tune_build",
        on_click=attempt,
        args=(lambda: _build_hyper_deep_run(sweep.id, size, again),),
        **rights.build_control_arguments(Action.LAUNCH),
    )


def _build_hyper_deep_run(sweep_id: str, size: int, again: bool) -> None:
    name = f"{_format_hyper_deep_name(sweep_id)}: {formats.format_count(size, 'member')}"
    selection.create_hyper_deep_ensemble(sweep_id, size, f"{name}, some twice" if again else name, again)
    loaders.forget_runs()


def _format_hyper_deep_name(sweep_id: str) -> str:
    return f"Hyper-deep, {sweep_id}"


def show_hyper_deep_runs(sweep: Sweep) -> None:
    """Those that were built: what each makes of the test images, and on what it was chosen."""
    task = sweep.config.base.task
    for run in loaders.list_cached_runs(task):
        if run.name.startswith(_format_hyper_deep_name(sweep.id)):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(
                    "pages/numbers.py" if task == REGRESSION else "pages/inspect.py",
                    label=escaping.escape_markdown(run.name),
                    icon=":material/hub:",
                    query_params=address.RUN.build_query(run.id),
                    width="content",
                )
                st.caption(escaping.escape_markdown(_describe_hyper_deep_run(run)), width="content")


def _describe_hyper_deep_run(run: runs.Run) -> str:
    if run.task == REGRESSION:
        aside = read_table_description(run.path).validation
        figures = loader.compute_once("test", (run.id,), lambda: measure_test_figures([run.id]))
        tested = "; ".join(f"{label}: {figure}" for label, figure in list_test_figures(figures))
        return f"{tested}; chosen on {formats.format_count(aside, 'validation row')}"
    share, size = run.status.best_ensemble_test_accuracy, run.data.test_size
    aside = count_holdout_images(run.data.train_size, run.config.validation)
    chosen = f"chosen on {formats.format_count(aside, f'validation {run.data.noun}')}"
    if share is None:
        return chosen
    interval = formats.format_wilson_interval(share, size)
    tested = f"{formats.format_percent(share, size)} {interval} of {size:,} test"
    return f"{tested} {formats.pluralize_noun(run.data.noun)}; {chosen}"
