"""What Slurm says of itself: its partitions, this user's tasks; and the word to end some.

Told by its own commands, in stated formats.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ensemble.cluster.scheduler import Partition, QueueEntry, TaskState
from ensemble.cluster.slurm_commands import SlurmNotSetUpError, clear_slurm_cache, query_slurm, query_slurm_cached
from ensemble.cluster.slurm_reasons import PAUSE_REASONS, describe_wait_reason
from ensemble.errors import ClusterError
from ensemble.storage.plain_files import open_plain_file

_MAX_IDS_PER_COMMAND = 500  # tasks named in one command
SLURM_PROGRAMS = ("sinfo", "squeue", "sbatch", "scancel")
_SINFO_COLUMNS = ("Partition", "Available", "Time", "StateLong", "Nodes", "CPUsState", "Memory", "Gres", "GresUsed")
_SINFO_FORMAT = ",".join(f"{column}:256|" for column in _SINFO_COLUMNS)
# What slurmstepd writes into the log of a task that had too little memory.
_OUT_OF_MEMORY_PATTERN = re.compile(r"slurmstepd.*(exceeded (job |step )?memory limit|oom[-_ ]kill)", re.IGNORECASE)
_LOG_BYTES = 8_000  # of a log's end that are read
_TASK_ID_PATTERN = re.compile(r"[0-9]+(_[0-9]+)?")
# Slurm's word for how a task stands: what it is to this program. Any other is an end.
_SLURM_STATES: dict[str, TaskState] = {
    "PENDING": "waiting",
    "REQUEUED": "waiting",
    "REQUEUE_HOLD": "waiting",
    "REQUEUE_FED": "waiting",
    "RESV_DEL_HOLD": "waiting",
    "SPECIAL_EXIT": "waiting",
    "RUNNING": "running",
    "COMPLETING": "running",
    "CONFIGURING": "running",
    "RESIZING": "running",
    "SIGNALING": "running",
    "STAGE_OUT": "running",
    "STOPPED": "running",
    "SUSPENDED": "running",
}


def is_slurm_available() -> bool:
    """Whether Slurm is here; also where it does not answer just now."""
    if not all(map(shutil.which, SLURM_PROGRAMS)):
        return False
    try:
        query_slurm_cached("sinfo", "--noheader", f"--Format={_SINFO_FORMAT}")
    except SlurmNotSetUpError:
        return False
    except ClusterError:
        return True
    return True


def list_slurm_partitions() -> list[Partition]:
    """The cluster's partitions, in its order.

    Raises:
      ClusterError: there is no Slurm here, or it does not answer.
    """
    text = query_slurm_cached("sinfo", "--noheader", f"--Format={_SINFO_FORMAT}")
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line]
    partitions: dict[str, Partition] = {}
    for row in rows:
        partition = _parse_partition(dict(zip(_SINFO_COLUMNS, row, strict=False)))
        partitions[partition.name] = (
            _merge_partition_rows(partitions[partition.name], partition) if partition.name in partitions else partition
        )
    return list(partitions.values())


def list_slurm_tasks(user: int | None = None) -> dict[str, QueueEntry]:
    """List a user's tasks by id, including those that ended minutes ago.

    Args:
      user: the user's number; None for whoever asks.

    Raises:
      ClusterError: there is no Slurm here, or it does not answer.
    """
    text = query_slurm_cached(
        "squeue",
        "--noheader",
        "--array",
        "--states=all",
        f"--user={os.getuid() if user is None else user}",
        "--format=%i|%T|%N|%r|%j",
    )
    tasks = (_parse_queue_entry(line) for line in text.splitlines() if line.count("|") >= 4)
    return {task.id: task for task in tasks}


def cancel_slurm_tasks(ids: Iterable[str]) -> None:
    """End these tasks: a waiting one at once, a working one after it was asked to stop.

    One that has ended, or that Slurm no longer knows, is none the worse for it.

    Raises:
      ClusterError: there is no Slurm here, it does not answer, or one belongs to another user.
    """
    named = [task_id for task_id in ids if _TASK_ID_PATTERN.fullmatch(task_id)]
    for some in _split_into_batches(named, _MAX_IDS_PER_COMMAND):
        query_slurm("scancel", "--quiet", *some)
    clear_slurm_cache()


def read_slurm_end_word(log: Path, word: str) -> str:
    """The word for how a task ended: where its own says too little, as its log has it.

    Memory that ran out is a failure like any other where Slurm watches it without cgroups
    (OverMemoryKill): then only the log names it.
    """
    if word not in ("FAILED", "COMPLETED"):
        return word
    try:
        with open_plain_file(log) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_BYTES))
            tail = file.read().decode(errors="replace")
    except OSError:
        return word
    return "OUT_OF_MEMORY" if _OUT_OF_MEMORY_PATTERN.search(tail) else word


def _split_into_batches(items: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (items[at : at + most] for at in range(0, len(items), most))


def _parse_queue_entry(line: str) -> QueueEntry:
    task_id, word, nodes, why, name = line.split("|", 4)
    state = _SLURM_STATES.get(word, "ended")
    if state == "waiting":
        return QueueEntry(task_id, state, describe_wait_reason(why), "", name)
    if state == "running":
        return QueueEntry(task_id, state, PAUSE_REASONS.get(word, ""), nodes, name)
    return QueueEntry(id=task_id, state=state, reason="", nodes=nodes, name=name, word=word)


def _parse_partition(row: dict[str, str]) -> Partition:
    nodes, state = int(row["Nodes"]), row["StateLong"].lower()
    _, idle, _, cpus = map(int, row["CPUsState"].split("/"))
    answers = not set(state) & set("*!%$")  # what does not answer, or is on its way out
    usable = answers and state.rstrip("~#+-@^").removesuffix("+") in {"idle", "mixed"}
    each = _parse_gpu_count(row["Gres"])
    return Partition(
        name=row["Partition"].rstrip("*"),
        default=row["Partition"].endswith("*"),
        up=row["Available"].startswith("up"),
        minutes=_parse_time_limit(row["Time"]),
        nodes=nodes,
        free_nodes=nodes if usable and state.startswith("idle") else 0,
        cpus=cpus,
        free_cpus=idle if answers else 0,
        gpus=nodes * each,
        free_gpus=nodes * max(0, each - _parse_gpu_count(row["GresUsed"])) if usable else 0,
        memory_gb=round(int(row["Memory"].rstrip("+") or 0) / 1024, 1),
    )


def _merge_partition_rows(partition: Partition, other: Partition) -> Partition:
    counts = ("nodes", "free_nodes", "cpus", "free_cpus", "gpus", "free_gpus")
    added = {name: getattr(partition, name) + getattr(other, name) for name in counts}
    largest = max(partition.memory_gb, other.memory_gb)
    return Partition(partition.name, partition.default, partition.up, partition.minutes, **added, memory_gb=largest)


def _parse_gpu_count(gres: str) -> int:
    """How many GPUs: 6 of "gpu:a100:4(S:0-1),gpu:v100:2,craynetwork:3"."""
    counts = re.findall(r"(?:^|,)gpu(?::[^:,()]+)?:(\d+)", re.sub(r"\([^)]*\)", "", gres))
    return sum(map(int, counts))


def _parse_time_limit(limit: str) -> int | None:
    """A limit on time in whole minutes: 1,440 of "1-00:00:00"; None of "infinite"."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", limit)
    if not match:
        return None
    days, hours, whole, _ = (int(part or 0) for part in match.groups())
    return (days * 24 + hours) * 60 + whole
