"""Further seeds of runs' settings in one press, as one run of each is one draw of its settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.comparison.seed_groups import have_same_settings
from ensemble.config import AnyTrainingConfig, EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.ui.shared import address, guard, loaders, settings
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import formats

SEEDS_PER_SETTING = 3
C = TypeVar("C", bound=AnyTrainingConfig)
_MAX_LAUNCHED_RUNS = 12
_ERROR_KEY = "seed_launch"


@dataclass(frozen=True)
class _SeedPlan:
    """The runs that there are of some settings, and those that are missing.

    Attributes:
      existing: finished or on their way, one a seed and setting.
      missing: the configurations that would bring each setting to `SEEDS_PER_SETTING` seeds.
      seconds: what training these would take, by the runs that there are; None where unknown.
    """

    existing: tuple[runs.Run, ...]
    missing: tuple[EnsembleConfig, ...]
    seconds: float | None


def plan_seed_runs(compared: Sequence[runs.Run], every: Sequence[runs.Run]) -> _SeedPlan | None:
    """What is missing of the settings of these runs; None where one was not trained here."""
    existing: list[runs.Run] = []
    missing: list[EnsembleConfig] = []
    seconds: float | None = 0.0
    seen: list[runs.Run] = []
    for run in compared:
        if run.training_config is None or run.origin:
            return None
        if any(have_same_settings(run, other) for other in seen):
            continue
        seen.append(run)
        by_seed = {run.training_config.seed: run}
        for other in every:
            config = other.training_config
            if config is not None and (other.active or other.state == "finished") and have_same_settings(run, other):
                by_seed.setdefault(config.seed, other)
        existing += by_seed.values()
        count = SEEDS_PER_SETTING - len(by_seed)
        missing += list_missing_seeds(run.training_config, set(by_seed), count)
        if seconds is not None:
            seconds = seconds + run.status.seconds * max(0, count) if run.status.seconds else None
    return _SeedPlan(tuple(existing), tuple(missing), seconds)


def list_missing_seeds(config: C, existing: set[int], count: int) -> list[C]:
    highest = settings.RUN_FIELDS["seed"].metadata["high"]
    configs: list[C] = []
    seed = config.seed
    while len(configs) < count:
        seed = (seed + 1) % (highest + 1)
        if seed not in existing:
            configs.append(replace(config, seed=seed))
    return configs


def show_seed_launch(compared: Sequence[runs.Run], key: str) -> None:
    show_launch_problem()
    plan = plan_seed_runs(compared, loaders.list_cached_runs())
    if plan is None or len(plan.missing) > _MAX_LAUNCHED_RUNS:
        return
    if plan.missing:
        time = f", about {formats.format_duration(plan.seconds)}" if plan.seconds else ""
        count = formats.format_count(len(plan.missing), "run")
        st.button(
            f"Train {SEEDS_PER_SETTING} seeds of each",
            key=key,
            icon=":material/casino:",
            on_click=launch_seed_runs,
            args=(plan.missing, launch_new_run),
            **rights.build_control_arguments(
                Action.LAUNCH,
                help=f"Launches {count} with these settings and other seeds{time}. Then the "
                "settings themselves can be compared, not only these runs.",
            ),
        )
        return
    active = sum(run.active for run in plan.existing)
    st.page_link(
        "pages/compare.py",
        label="Compare over seeds" + (f" ({active} under way)" if active else ""),
        width="content",
        icon=":material/casino:",
        query_params=address.RUNS.build_query(tuple(run.id for run in plan.existing)),
    )


def show_launch_problem() -> None:
    """Why the last press could not launch all seeds: told once."""
    if problem := tab.job_error.pop(_ERROR_KEY):
        guard.show_error_message(f"Not all seeds could be launched: {problem}")


def launch_new_run(config: EnsembleConfig, placement: Placement | None = None) -> None:
    """Launch it, unless a first click or another tab has launched it already."""
    if config not in [run.training_config for run in runs.list_runs() if run.active]:
        runs.launch_run(config, placement)


def launch_seed_runs(configs: Sequence[C], launch: Callable[[C], object]) -> None:
    """Callback: launch them all, or keep the reason why one cannot be launched."""
    try:
        for config in configs:
            launch(config)
    except EnsembleError as error:
        tab.job_error[_ERROR_KEY] = str(error)
    finally:
        loaders.forget_runs()
