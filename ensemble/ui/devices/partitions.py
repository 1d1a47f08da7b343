"""A cluster on its screen: what its partitions have free, and this program's tasks there."""

import time
from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.cluster.scheduler import Partition, QueueEntry
from ensemble.errors import EnsembleError
from ensemble.jobs.job import Job
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.tasks import read_group_tasks
from ensemble.storage.folders import runs_folder
from ensemble.ui.devices import schedulers
from ensemble.ui.shared import loaders
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_run_name

POLL_INTERVAL_S = 5.0
ROW_HEIGHT_PX, MAX_ROWS = 35, 12


def show_cluster() -> None:
    """The cluster, looked at again and again; nothing where there is none."""
    if schedulers.read_scheduler_snapshot().is_present:
        st.fragment(_refresh_cluster, run_every=POLL_INTERVAL_S)()


def _refresh_cluster() -> None:
    """The body of `show_cluster`."""
    with guard_page():
        scheduler_snapshot = schedulers.read_scheduler_snapshot()
        st.markdown(f"**{scheduler_snapshot.scheduler.title}**")
        if scheduler_snapshot.problem:
            st.warning(escaping.escape_markdown(scheduler_snapshot.problem), icon=":material/cloud_off:")
        if scheduler_snapshot.partitions:
            _show_cluster_table(
                _tabulate_partitions(scheduler_snapshot.partitions), "What each partition has, and what of it is free"
            )
        if tasks := _filter_own_tasks(scheduler_snapshot.tasks):
            _show_cluster_table(_tabulate_cluster_tasks(tasks), "The tasks of this program on the cluster")
        elif scheduler_snapshot.partitions:
            st.caption("None of your runs has a task there.")


def _show_cluster_table(columns: dict[str, list[str]], alt: str) -> None:
    rows = min(len(next(iter(columns.values()))), MAX_ROWS)
    st.dataframe(columns, hide_index=True, height=ROW_HEIGHT_PX * (rows + 1) + 3, alt=alt)


def _tabulate_partitions(there: Sequence[Partition]) -> dict[str, list[str]]:
    return {
        "partition": [partition.name + " (default)" * partition.default for partition in there],
        "nodes free": [f"{partition.free_nodes:,} of {partition.nodes:,}" for partition in there],
        "CPUs free": [f"{partition.free_cpus:,} of {partition.cpus:,}" for partition in there],
        "GPUs free": [
            f"{partition.free_gpus:,} of {partition.gpus:,}" if partition.gpus else "none" for partition in there
        ],
        "memory of a node": [f"{partition.memory_gb:,.0f} GB" for partition in there],
        "time limit": [
            formats.format_duration(60 * partition.minutes) if partition.minutes else "none" for partition in there
        ],
        "state": ["takes tasks" if partition.up else "accepts none now" for partition in there],
    }


def _filter_own_tasks(tasks: Sequence[QueueEntry]) -> list[QueueEntry]:
    """Those that wait or work for a run that is here: they are called by its id."""
    names = {path.name for path in runs_folder().iterdir()} if runs_folder().is_dir() else set()
    return [task for task in tasks if task.state != "ended" and task.name in names]


def _tabulate_cluster_tasks(tasks: Sequence[QueueEntry]) -> dict[str, list[str]]:
    jobs_by_id: dict[str, Job] = {run.id: run for run in loaders.list_cached_runs(None)}
    since = {name: _format_task_durations(name) for name in {task.name for task in tasks}}
    return {
        "job": [task.id for task in tasks],
        "run": [format_run_name(jobs_by_id[task.name]) if task.name in jobs_by_id else task.name for task in tasks],
        "state": [_describe_task_state(task) for task in tasks],
        "node": [task.nodes for task in tasks],
        "time": [since[task.name].get(task.id, "–") for task in tasks],
    }


def _describe_task_state(task: QueueEntry) -> str:
    """ "running", "queued: no node is free"."""
    if task.state != "waiting":
        return task.state
    return f"queued: {task.reason}" if task.reason else "queued"


def _format_task_durations(run_id: str) -> dict[str, str]:
    try:
        run = runs.find_run(run_id)
        tasks, now = read_group_tasks(run.path), time.time()
        return {
            task.id: formats.format_duration(now - (_find_task_start(group.status) or now))
            for group in list_run_groups(run)
            if (task := tasks.get(group.number))
        }
    except EnsembleError:  # it is of another kind, or cannot be read
        return {}


def _find_task_start(status: runs.Status) -> float | None:
    return status.queued if status.state == "queued" else status.started
