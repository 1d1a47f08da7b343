"""Whether choosing pays on a dataset: an experiment with hidden labels, launched and shown."""

from dataclasses import replace

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.acquisition.learning_curves import load_curves
from ensemble.acquisition.learning_job import (
    UNUSED_SETTINGS,
    LearningConfig,
    LearningExperiment,
    find_learning,
    launch_learning,
    list_learnings,
    resume_learning,
)
from ensemble.acquisition.learning_results import RESULTS_FILE, LearningCurves
from ensemble.analysis.acquisition.image_choice import RANDOM, STRATEGIES
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.figures import learning_curves as figures
from ensemble.storage.folder_index import file_version
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import address, theme, widget_state
from ensemble.ui.shared.figure_panel import show_figure_panel
from ensemble.wording import escaping
from ensemble.wording import learning_gain as words
from ensemble.wording.next_labels import STRATEGY_TITLES
from ensemble.wording.run_names import format_unique_run_name

POLL_INTERVAL_S = 2.0
_KEPT_SETTINGS = ("dataset", "network", "width", "members", "optimizer", "momentum", "seed")


def show_learning_section(run: runs.Run) -> None:
    config = runs.require_training_config(run)
    st.divider()
    st.markdown("##### Does choosing pay?")
    experiments = {each.id: each for each in list_learnings() if each.config.base.dataset == config.dataset}
    if experiments:
        _show_experiment(_select_experiment(experiments), run.data.noun)
    _show_learning_launch(config)


def _select_experiment(experiments: dict[str, LearningExperiment]) -> LearningExperiment:
    """The one that the address names, else the newest; a list where there are several."""
    newest = next(iter(experiments))
    shown = address.LEARNING.read_option(experiments, newest)
    if len(experiments) > 1:
        address.show_address_widget(
            f"address_learning_{len(experiments)}",
            shown,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "Experiment",
                list(experiments),
                key=key,
                format_func=lambda each: format_unique_run_name(experiments[each]),
                on_change=address.update_address,
                args=(address.LEARNING, key, newest),
                width=480,
            ),
        )
    return experiments[shown]


def _show_experiment(experiment: LearningExperiment, noun: str) -> None:
    """Show an experiment, and again while it is active."""

    def draw(experiment: LearningExperiment) -> None:
        if experiment.state != "finished":
            detail = f"{experiment.status.done:,} of {experiment.status.trainings:,} trainings"
            job_panel.show_job_progress(
                experiment, detail, prefix="learning_", resume=lambda: resume_learning(experiment.id)
            )
        _show_curves(experiment, _load_cached_curves(experiment), noun)

    job_panel.show_live_job(lambda: find_learning(experiment.id), draw, POLL_INTERVAL_S)


def _show_curves(experiment: LearningExperiment, curves: LearningCurves, noun: str) -> None:
    answer = words.describe_learning_answer(curves, experiment.config)
    st.markdown(f"#### {escaping.escape_markdown(answer)}")
    if last := words.describe_last_round(curves):
        st.markdown(escaping.escape_markdown(last))
    if not curves.images:
        return
    name = format_unique_run_name(experiment)
    show_figure_panel(
        figures.plot_learning_arms(curves, f"Learning curves · {name}", theme.get_page_palette()),
        key="learning_curves",
        name=f"{experiment.id}-curves",
        title="Learning curves",
        alt=f"Accuracy by number of labels, chosen and drawn at random. {answer}",
        table=lambda: figures.tabulate_learning_arms(curves),
        sees="Choosing pays where the solid line is above the dashed one by more than seeds differ (thin lines).",
        job=experiment,
    )
    basis = words.describe_learning_basis(curves, experiment.config, noun)
    st.caption(escaping.escape_markdown(basis))


def _load_cached_curves(experiment: LearningExperiment) -> LearningCurves:
    """As `learning_curves.load_curves`, computed once for each version of the results."""
    version = file_version(str(experiment.path / RESULTS_FILE))
    return _load_curves(experiment.id, version, experiment)


@st.cache_resource(max_entries=16, show_spinner=False)
def _load_curves(learning_id: str, version: object, _experiment: LearningExperiment) -> LearningCurves:
    return load_curves(_experiment)


def _show_learning_launch(config: EnsembleConfig) -> None:
    with st.expander("Try it on labels that are there"):
        strategy = widget_state.draw_widget(
            st.selectbox,
            "Chosen by",
            [name for name in STRATEGIES if name != RANDOM],
            key="learning_by",
            index=list(STRATEGIES).index(LearningConfig().by),
            format_func=STRATEGY_TITLES.__getitem__,
            width=300,
        )
        with st.container(horizontal=True, gap="small"):
            numbers = {
                name: widget_state.draw_widget(
                    st.number_input,
                    title,
                    min_value=low,
                    max_value=high,
                    value=int(getattr(LearningConfig(), name)),
                    key=f"learning_{name}",
                    width=140,
                )
                for name, title, low, high in (
                    ("first", "First labels", 2, 100_000),
                    ("step", "Labels a round", 1, 10_000),
                    ("rounds", "Rounds", 1, 100),
                    ("seeds", "Seeds", 2, 100),
                )
            }
        try:
            planned = _build_learning_config(config, str(strategy), numbers)
        except ConfigError as error:
            st.caption(f":material/block: {escaping.escape_markdown(str(error))}")
            return
        st.caption(escaping.escape_markdown(words.describe_first_labels(planned)))
        job_panel.show_job_button(
            "Compare both arms",
            "learning_launch",
            lambda: _launch_experiment(planned),
            Action.LAUNCH,
            icon=":material/science:",
            help="With this run's network and members, at a rate for few labels. It waits its "
            "turn like a training, and can be stopped and resumed.",
        )


def _build_learning_config(config: EnsembleConfig, strategy: str, numbers: dict[str, int]) -> LearningConfig:
    """The experiment with a run's network and members.

    Raises:
      ConfigError: the numbers do not fit together.
    """
    kept = {name: getattr(config, name) for name in _KEPT_SETTINGS if name not in UNUSED_SETTINGS}
    plan = LearningConfig()
    needed = int(numbers["first"]) + int(numbers["step"]) * int(numbers["rounds"])
    return LearningConfig(
        by=strategy,
        candidates=max(plan.candidates, min(needed, 1_000_000)),
        base=replace(plan.base, **kept),
        **{name: int(value) for name, value in numbers.items()},
    )


def _launch_experiment(config: LearningConfig) -> None:
    """Launch an experiment, unless the same is active."""
    if config not in [each.config for each in list_learnings() if each.active]:
        launch_learning(config)
