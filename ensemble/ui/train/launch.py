"""Setting a run up and launching it: what will run, on what, and about how long."""

import socket
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from ensemble import architectures, datasets, runs
from ensemble.access import Action
from ensemble.config import EnsembleConfig
from ensemble.datasets import DatasetInfo
from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.partition.batch_size import check_batch_size
from ensemble.datasets.partition.folds import count_images_per_member
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import ConfigError, EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import list_blocking_jobs, list_queued_jobs
from ensemble.machine import bench_result
from ensemble.machine.group_count import choose_group_count
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.network_cost import NetworkCost
from ensemble.machine.run_estimate import (
    PastRun,
    describe_members_per_device,
    estimate_memory_bytes,
    estimate_training_time,
)
from ensemble.ui.devices import bench_results, probe
from ensemble.ui.devices import placement_control as places
from ensemble.ui.frame import disk_quota
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs.launch import LaunchPlan
from ensemble.ui.shared import loaders, run_panel, seed_launch, settings, widget_state
from ensemble.ui.shared.seed_launch import C
from ensemble.ui.sign_in import rights
from ensemble.ui.train import network_control, placement_control, teacher_control
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.runs import networks as networks_words

ESTIMATE_SOURCES = {
    "runs": "estimated from earlier runs",
    "bench": "estimated from “ensemble bench”",
    "guess": "a rough guess, no run to go by yet",
}
SEED_COUNTS = (1, 3, 5)
_SEED_COUNT_KEY = "launch_seeds"
_SEEDS_HELP = (
    "One run is one draw of its settings: another seed may do better or worse. Three or five are "
    "queued behind each other, differ in nothing else, and are one curve with its band in Compare."
)


def plan_run_launch() -> LaunchPlan[EnsembleConfig]:
    members = settings.get_run_setting("members")
    label = f"Launch {formats.format_count(members, 'member')}"
    label += describe_seed_count()
    if why := rights.describe_missing_right(Action.LAUNCH):
        return LaunchPlan(None, label, why)
    try:
        config = settings.collect_run_config()
    except ConfigError as error:
        return LaunchPlan(None, label, str(error))
    info = datasets.find_dataset_info(config.dataset)
    if not info.prepared:
        return LaunchPlan(None, label, f"{info.title} is not here yet: fetch it, or choose Digits.")
    held = count_holdout_images(info.train_size, config.validation)
    learnt = info.train_size - held
    seen = count_images_per_member(learnt, config.folds)
    try:
        check_batch_size(config.batch_size, learnt, held, config.folds)
    except ConfigError as error:
        return LaunchPlan(None, label, str(error))
    if why := teacher_control.describe_unfit_teacher(config):
        return LaunchPlan(None, label, why)
    network = network_control.probe_network(config.network, info, config.width)
    reason = network_control.describe_unfit_network(config, network)
    if reason or network.cost is None:
        return LaunchPlan(None, label, reason)
    if choice := placement_control.get_selected_place():
        return _plan_cluster_launch(config, label, choice)
    return _plan_local_launch(config, replace(info, train_size=seen), label, network.cost)


def _plan_local_launch(
    config: EnsembleConfig, info: DatasetInfo, label: str, cost: NetworkCost
) -> LaunchPlan[EnsembleConfig]:
    device_probe = probe.get_device_probe()
    if (here := device_probe.inventory) is None:
        unknown = "Looking for devices…" if device_probe.is_pending else "The devices could not be asked."
        return LaunchPlan(config, label, note=unknown)
    devices = min(config.devices or here.devices, here.devices)
    needed = 0.0
    if here.platform == "cpu":
        needed = estimate_memory_bytes(config, cost, find_dataset_entry(info.name).nbytes_prepared, devices)
        if needed > (there := read_machine_info().memory_bytes):
            return LaunchPlan(None, label, networks_words.describe_memory_excess(needed, there))
    guess = estimate_training_time(
        config,
        info.train_size,
        platform=here.platform,
        devices=devices,
        cores=here.cores,
        host=socket.gethostname(),
        past=list_past_speeds(info, cost, here.devices),
        bench=find_bench_speed(config, devices),
        work=cost.flops,
    )
    on = formats.format_count(devices, "device")
    groups = config.groups or choose_group_count(config, find_dataset_entry(config.dataset).train_size)
    if groups > 1:
        spread = f"in {groups} groups, each with a process and cores of its own"
    else:
        spread = describe_members_per_device(config.members, devices, config.batch_parts)
    memory = f"{networks_words.format_memory(needed)} of memory" if needed else ""
    parts = [spread, memory, f"time {ESTIMATE_SOURCES[guess.source]}"]
    after = jobs_words.describe_start_order(list_blocking_jobs())
    note = f"{' · '.join(filter(None, parts))}. {after}".rstrip()
    seconds = round_duration(guess.seconds * _get_seed_count())
    return LaunchPlan(config, f"{label} on {on}, about {formats.format_duration(seconds)}", note=note)


def _plan_cluster_launch(config: EnsembleConfig, label: str, choice: str) -> LaunchPlan[EnsembleConfig]:
    """The plan for a cluster, which is not waited for: how long it takes nobody here knows."""
    try:
        placement = places.build_fitting_placement(choice)
    except EnsembleError as error:
        return LaunchPlan(None, label, str(error))
    groups = config.groups or choose_group_count(config, find_dataset_entry(config.dataset).train_size)
    how = formats.format_count(groups, "task")
    note = f"Each task trains {_format_members_per_group(config.members, groups)}. {places.describe_time_limit(choice)}"
    return LaunchPlan(
        config, f"{label} in {how} on {places.parse_choice_scheduler(choice).title}", note=note, placement=placement
    )


def _format_members_per_group(members: int, groups: int) -> str:
    """How many members each group has: "4 members", "2 or 3 members"."""
    least, more = divmod(members, groups)
    return f"{least} or {least + 1} members" if more else formats.format_count(least, "member")


def round_duration(seconds: float) -> float:
    """An estimate without figures that it does not hold: to 5 s, 10 s, 1 min, ..."""
    grain = next((g for limit, g in ((60, 5), (300, 10), (3600, 60)) if seconds < limit), 600)
    return max(grain, round(seconds / grain) * grain)


def list_past_speeds(info: DatasetInfo, cost: NetworkCost, all_devices: int) -> list[PastRun]:
    """What earlier runs tell of this machine's speed, newest first.

    Args:
      cost: what a member of its network takes for that; by as much more as others' images have
        more pixels, of the same network.
    """
    return [
        PastRun(
            devices=training_config.devices or all_devices,
            rate=run.status.img_member_per_s,
            host=run.status.host,
            precision=training_config.precision,
            work=cost.flops * _count_image_pixels(run.data) / _count_image_pixels(info),
            network=(str(training_config.network), training_config.width),
        )
        for run in loaders.list_cached_runs()[:50]
        if (training_config := run.training_config)
        and run.status.img_member_per_s
        and run.status.host
        # Groups may have waited for a place, or been trained on other machines than their worker's.
        and not run.in_groups
    ]


def _count_image_pixels(data: DatasetInfo | DatasetEntry) -> int:
    return data.image_shape[0] * data.image_shape[1]


def find_bench_speed(config: EnsembleConfig, devices: int) -> PastRun | None:
    """Return the speed that `ensemble bench` measured on as many devices of this machine, if it did."""
    return bench_result.find_bench_speed(bench_results.list_bench_results(), config.precision, config.members, devices)


def show_seed_count() -> None:
    """How many runs Launch starts: one is one draw of its settings, several tell them apart."""
    widget_state.initialize_widget(_SEED_COUNT_KEY, SEED_COUNTS[0])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="seed_row"):
        st.caption("Seeds", help=_SEEDS_HELP, width="content")
        widget_state.draw_widget(
            st.segmented_control,
            "Seeds",
            SEED_COUNTS,
            key=_SEED_COUNT_KEY,
            required=True,
            persist_state="session",
            label_visibility="collapsed",
        )
    seed_launch.show_launch_problem()


def describe_seed_count() -> str:
    """The seeds in the label of the button: " × 3 seeds"; "" for one."""
    return f" × {seeds} seeds" if (seeds := _get_seed_count()) > 1 else ""


def _get_seed_count() -> int:
    return int(widget_state.get_widget_value(_SEED_COUNT_KEY, SEED_COUNTS[0]))


def show_run_launch_button(key: str, primary: bool = True) -> None:
    launching.show_launch_button(
        key,
        plan_run_launch,
        still_asked=_is_launch_pending,
        press=launch_and_show_run,
        below=lambda planned: disk_quota.show_quota_warning(),
        primary=primary,
    )


def _is_launch_pending() -> bool:
    return probe.get_device_probe().is_pending or network_control.is_network_pending()


def prepare_next_worker(drawn: bool = True) -> None:
    """Have a process ready for the next run; not while a run needs the machine for itself."""
    device_probe = probe.get_device_probe()
    # Until the devices are known, asking for them keeps a core busy; then the page draws anew.
    if not device_probe.is_pending and not list_queued_jobs():
        here = device_probe.inventory
        on_cpu = here is not None and here.platform == "cpu"
        planned = plan_run_launch() if drawn and on_cpu else None
        # What only follows its groups compiles nothing.
        likely = planned.config if planned and not planned.placement else None
        likely = likely if likely and likely.groups == 1 else None
        # Code of one's own is imported for its run alone: it may change before that.
        own = likely is not None and architectures.is_custom_network(likely.network)
        runs.keep_warm_worker(None if own else likely)


def launch_and_show_run(config: EnsembleConfig, placement: Placement | None = None) -> None:
    launch_and_show_seeds(
        config,
        placement,
        launch=lambda config: runs.launch_run(config, placement),
        launch_other=lambda config: seed_launch.launch_new_run(config, placement),
    )


def launch_and_show_seeds(
    config: C, request: object, launch: Callable[[C], runs.Run], launch_other: Callable[[C], object] | None = None
) -> None:
    """Start `config` in the background and show it; with more seeds queued behind it.

    Args:
      request: what else identifies this launch, so that a second click does not start it twice.
      launch: starts a run.
      launch_other: starts a run with another seed, if that differs.
    """
    count = _get_seed_count()

    def launch_all() -> runs.Run:
        first = launch(config)
        others = seed_launch.list_missing_seeds(config, {config.seed}, count - 1)
        seed_launch.launch_seed_runs(others, launch_other or launch)
        return first

    screen = run_panel.RUN_SCREEN if isinstance(config, EnsembleConfig) else run_panel.NUMERIC_SCREEN
    launching.launch_job_once(
        screen, (config, request, count), launch_all, lambda run: job_picker.set_next_shown_job(screen, run)
    )
