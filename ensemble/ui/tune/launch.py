"""Setting a sweep up and launching it: what is searched, by whom, for what, about how long."""

from dataclasses import replace
from typing import Any

import streamlit as st

from ensemble import datasets, sweeps
from ensemble.config import EnsembleConfig
from ensemble.datasets.split import held_out
from ensemble.errors import ConfigError
from ensemble.jobs.placement import Placement
from ensemble.settings import setting_fields
from ensemble.sweeps import OBJECTIVES, Sweep, SweepConfig
from ensemble.sweeps.settings import VALIDATION
from ensemble.ui.devices import probe, where
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs import picker
from ensemble.ui.jobs.launch import Plan
from ensemble.ui.shared import settings, widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.ui.train.launch import TOLD_BY, rounded
from ensemble.ui.tune import length, space
from ensemble.ui.tune.screen import SCREEN
from ensemble.wording import escaping, formats

WHERE = "tune_where"
ON_CLUSTER = (
    "On a cluster each worker is a task on one node, and they take no turn of this machine. What "
    "each asks for stands in ensemble.toml, table [{table}]."
)
NO_BREAK = "\N{NO-BREAK SPACE}"
FIELDS = {field.name: field for field in setting_fields(SweepConfig)}
SAMPLER_WORDS = {
    "tpe": "TPE: learns from the trials before",
    "random": "Random",
    "grid": "Grid: every combination",
}
PRUNER_WORDS = {
    "none": "None: every trial to its end",
    "median": "Median: ends what is below it",
    "hyperband": "Hyperband: few epochs first",
}
OBJECTIVE_WORDS = {
    "nll": "NLL of the ensemble",
    "accuracy": "Accuracy of the ensemble",
    "ece": "ECE of the ensemble",
    "seconds": "Seconds of training",
}
QUICK = SweepConfig(
    trials=8,
    sampler="random",
    base=EnsembleConfig(network="logistic", epochs=5, validation=VALIDATION),
)
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


def key(name: str) -> str:
    """The key of the widget that holds a setting of the sweep."""
    return f"tune_{name}"


def controls() -> None:
    """What is searched, by whom and for what; the rest under More."""
    control("sampler", "Sampler", format_func=SAMPLER_WORDS.__getitem__)
    on_grid = held("sampler") == "grid"
    space.controls(on_grid)
    if not on_grid:
        control("trials", "Trials")
    widget.begin(key("objectives"), ["nll"])
    st.multiselect(
        "Chosen by",
        list(OBJECTIVES),
        format_func=OBJECTIVE_WORDS.__getitem__,
        key=key("objectives"),
        persist_state="session",
        select_all=False,
        help="On the validation images, at a trial's best epoch. Of several the trials that no "
        "other beats in all are shown: the Pareto front.",
    )
    draw_field_control(
        settings.FIELDS["validation"],
        key("validation"),
        "Validation share",
        start=VALIDATION,
        steps=SHARES,
        format_func=lambda share: formats.percent(share, places=0),
        help="Of the training images, held out of every trial to choose settings by.",
    )
    where.control(WHERE, ON_CLUSTER)
    more = st.expander("More", key="tune_more", on_change="rerun")
    if more.open:
        with more:
            control("pruner", "Pruner", format_func=PRUNER_WORDS.__getitem__)
            control("workers", "Workers")
            control("sampler_seed", "Seed of the sampler")
    rest()


def control(name: str, label: str, **more: Any) -> None:
    """The widget of a setting of the sweep: a choice, or a number that is typed."""
    draw_field_control(FIELDS[name], key(name), label, typed=True, **more)


def rest() -> None:
    """All other settings, in one line, and where they are set."""
    said = f"{datasets.info(settings.value('dataset')).title} · "
    try:
        said += space.others(settings.chosen(), {*space.ticked(), "validation"})
    except ConfigError as error:
        said = str(error)
    st.caption(escaping.markdown(f"All else as on Train: {said}"))
    st.page_link("pages/train.py", label="Change it on Train", icon=":material/tune:")


def held(name: str) -> Any:
    """A setting of the sweep as it stands in its widget, else its default."""
    default = VALIDATION if name == "validation" else FIELDS[name].default
    return widget.value(key(name), default)


def config() -> SweepConfig:
    """The sweep that the controls say.

    Raises:
      ConfigError: they do not fit together, or something is missing.
    """
    if not space.ticked():
        raise ConfigError("Nothing is searched: tick at least one setting.")
    if name := space.empty():
        raise ConfigError(f"No value of {name} is given: give two or more to try.")
    if not (goals := widget.value(key("objectives"), ["nll"])):
        raise ConfigError("Nothing is chosen by: choose an objective such as NLL.")
    words = {
        name: held(name) for name in ("trials", "sampler", "pruner", "workers", "sampler_seed")
    }
    share = widget.value(key("validation"), VALIDATION)
    searched = space.chosen(words["sampler"] == "grid")
    ordered = ",".join(goal for goal in OBJECTIVES if goal in goals)
    base = replace(settings.chosen(), validation=share)
    return SweepConfig.from_dict(
        {
            **words,
            "space": searched,
            "objectives": ordered,
            "base": base.as_dict(),
        }
    )


def plan() -> Plan[SweepConfig]:
    """What Launch will do with the controls as they stand."""
    try:
        wanted = config()
        label = f"Launch {formats.count(wanted.wanted, 'trial')}"
    except ConfigError as error:
        return Plan(None, "Launch", str(error))
    info = datasets.info(wanted.base.dataset)
    if not info.prepared:
        return Plan(None, label, f"{info.title} is not here yet: fetch it on Train.")
    aside = held_out(info.train_size, wanted.base.validation)
    if largest(wanted) > info.train_size - aside:
        learnt = f"{info.train_size - aside:,} training images"
        return Plan(
            None,
            label,
            f"A batch of {largest(wanted):,} is more than the {learnt}: choose a smaller one.",
        )
    said = chosen_on(wanted, aside, info.noun)
    if place := widget.value(WHERE, where.HERE):
        workers = formats.count(wanted.workers, "task")
        return Plan(wanted, f"{label} in {workers} on {where.describe(place)}", note=said)
    if (here := probe.probe().answer) is None:
        return Plan(wanted, label, note=said)
    if (about := length.length(wanted, here)) is None:
        return Plan(wanted, label, note=said)
    time_ = formats.duration(rounded(about.seconds)).replace(" ", NO_BREAK)
    most = "at most " if wanted.pruner != "none" else "about "
    return Plan(
        wanted, f"{label}, {most}{time_}", note=f"{said} The time is {TOLD_BY[about.told_by]}."
    )


def largest(config: SweepConfig) -> int:
    """The largest batch that a trial may have."""
    axis = config.axes.get("batch_size")
    if axis is None:
        return config.base.batch_size
    return int(getattr(axis, "high", 0) or max(getattr(axis, "values", (0,))))


def chosen_on(config: SweepConfig, aside: int, noun: str) -> str:
    """On which images settings are chosen, in a sentence."""
    if config.goals == ("seconds",):
        return "Chosen by the seconds that training takes."
    images = formats.count(aside, f"validation {noun}")
    share = formats.percent(config.base.validation, places=0)
    return f"Chosen on {images} ({share} of the training set); the test set only reports."


def launch_button() -> None:
    """The button that starts what the controls say, with the reason where it cannot."""
    launching.launch_button("tune_launch", plan, lambda: probe.probe().waiting, launch, below)


def below(planned: Plan[SweepConfig]) -> None:
    """What it waits for, where it is searched on this machine."""
    if not widget.value(WHERE, where.HERE):
        launching.starts_after(planned)


def quick_button() -> None:
    """The button of the first visit: an example that is searched within a minute or so."""
    said = f"Try {formats.count(QUICK.trials, 'learning rate')} on digits, logistic regression"
    launching.button(Plan(QUICK, said), "tune_quick", launch)


def launch(wanted: SweepConfig, placement: Placement | None = None) -> None:
    """Start the sweep where that is chosen and show it."""

    def begin() -> Sweep:
        place = placement or where.placement(widget.value(WHERE, where.HERE))
        return sweeps.launch(wanted, place)

    launching.launch(SCREEN, wanted, begin, lambda sweep: picker.show_next(SCREEN, sweep))
