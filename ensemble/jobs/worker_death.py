"""How a worker died that could not say so: by which signal, and what helps.

While a worker holds a job, a file lies in the job's folder: a line of JSON on the process, and
behind it what Python's fault handler writes as a signal ends the process. A worker that comes to
an end removes the file, so that one which is found tells of a death. Nobody can write anything at
SIGKILL: then the kernel's own counts tell whether it ended processes as memory ran out.
"""

import contextlib
import faulthandler
import json
import re
import signal
import socket
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypedDict

from ensemble.jobs.kinds import UNKNOWN_DEATH, JobKind
from ensemble.storage.plain_files import parse_json, read_text_beginning
from ensemble.storage.records.field_checks import Count, check_json_value

CRASH_FILE = "crash.txt"
_MAX_READ_BYTES = 65_536
_MAX_DEATHS = 8  # that are remembered
BOOT_FILE = Path("/proc/sys/kernel/random/boot_id")
# Where the kernel counts processes that it ended as memory ran out: all, or a container's.
OOM_COUNT_FILES = (
    Path("/proc/vmstat"),
    Path("/sys/fs/cgroup/memory.events"),
    Path("/sys/fs/cgroup/memory/memory.oom_control"),
)
# What the fault handler calls each signal: its name, how it ended the worker, and what helps.
CRASHES = {
    "Segmentation fault": (
        "SIGSEGV",
        "compiled code in it crashed (SIGSEGV: it used memory that is not its own)",
        "A network of your own may do that by a product of many axes and its sum: multiply fewer "
        "axes at once, or on a CPU set XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= before.",
    ),
    "Aborted": ("SIGABRT", "compiled code in it gave up (SIGABRT)", "The end of its log says why."),
    "Bus error": (
        "SIGBUS",
        "a file that it used as memory could not be read or written (SIGBUS)",
        "Make room on the disk and in /dev/shm, and see that the disk is still there.",
    ),
    "Illegal instruction": (
        "SIGILL",
        "this processor lacks an instruction that compiled code in it used (SIGILL)",
        "Delete the folder compiled in ENSEMBLE_DATA, which another machine may have filled; if "
        "that does not help, install a jaxlib that is made for this processor.",
    ),
    "Floating point exception": (
        "SIGFPE",
        "compiled code in it divided by zero (SIGFPE)",
        "The end of its log says where.",
    ),
}
OUT_OF_MEMORY, KILLED, _RESTARTED = "out of memory", "SIGKILL", "restart"


class _WorkerDeath(TypedDict):
    """A death of a job's worker.

    Attributes:
      cause: the signal's name, or one of `OUT_OF_MEMORY`, `KILLED` and `_RESTARTED`.
      progress: how far the job had come; equal where nothing was kept since.
    """

    cause: str
    progress: str


class _WorkerMark(TypedDict):
    """What the first line says of the process that holds a job.

    Attributes:
      host: its machine.
      boot: which of the machine's starts; see `_read_boot_id`.
      oom_kills: what `_count_oom_kills` returned when the process started.
      deaths: of the workers before it, since one came to an end, the last one last.
    """

    host: str
    boot: str
    oom_kills: Count
    deaths: list[_WorkerDeath]


class CrashRecord:
    """Has it written down how this process dies, if it does; use as a context manager.

    One process has one fault handler: of several records in it the first has it, and the others
    write nothing.

    Args:
      folder: where the worker keeps its status.
      kind: of its job.
      share: how much of the job is done, in [0, 1].
    """

    _is_taken = False

    def __init__(self, folder: Path, kind: JobKind, share: float) -> None:
        self._path, self._kind, self._share = folder / CRASH_FILE, kind, share
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        if CrashRecord._is_taken or faulthandler.is_enabled():
            _forget_crash(self._path.parent)  # what an earlier worker left is of no use to anybody any more
            return self
        mark = _WorkerMark(
            host=socket.gethostname(),
            boot=_read_boot_id(),
            oom_kills=_count_oom_kills(),
            deaths=_list_worker_deaths(self._path.parent, self._kind, self._share),
        )
        with contextlib.suppress(OSError):  # A full disk is told of where it matters.
            self._path.unlink(missing_ok=True)
            self._file = self._path.open("x", encoding="utf-8")
            self._file.write(json.dumps(mark) + "\n")
            self._file.flush()
            faulthandler.enable(self._file, all_threads=False)
            CrashRecord._is_taken = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            faulthandler.disable()
            CrashRecord._is_taken = False
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
        _forget_crash(self._path.parent)


def _forget_crash(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / CRASH_FILE).unlink(missing_ok=True)


def describe_worker_death(folder: Path, kind: JobKind, share: float) -> str:
    """What to say of a job whose worker exited unexpectedly: how it died, what is kept, what helps.

    Args:
      folder: where the worker kept its status.
      kind: of the job.
      share: how much of it is done, in [0, 1].
    """
    deaths = _list_worker_deaths(folder, kind, share)
    if not deaths:
        return kind.describe_death(folder)
    reason, remedy = _describe_death_cause(deaths[-1]["cause"], kind)
    repeated = ""
    if kind.resumable and len(deaths) > 1 and deaths[-2] == deaths[-1]:
        count = next((at for at, death in enumerate(reversed(deaths)) if death != deaths[-1]), len(deaths))
        repeated = (
            f"It died so {'twice' if count == 2 else f'{count} times'} without getting any "
            "further: started again as it is, it will most likely die in the same way."
        )
    return " ".join(filter(None, (kind.describe_death(folder, reason), repeated, remedy)))


def _describe_death_cause(cause: str, kind: JobKind) -> tuple[str, str]:
    """How a worker died, to go on after a colon, and a sentence on what helps, or ""."""
    for name, reason, remedy in CRASHES.values():
        if name == cause:
            return reason, remedy
    if cause == OUT_OF_MEMORY:
        advice = kind.memory_advice
        return (
            "the system killed it (SIGKILL), most likely because memory ran out",
            f"{advice[0].upper()}{advice[1:]}.",
        )
    if cause == KILLED:
        return ("it was killed (SIGKILL) by a person or a program, perhaps one that guards memory", "")
    return ("the machine restarted", "") if cause == _RESTARTED else (UNKNOWN_DEATH, "")


def format_exit_status(status: int) -> str:
    """How a child ended, by what Popen says of it: "SIGSEGV", "exit status 3"."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _list_worker_deaths(folder: Path, kind: JobKind, share: float) -> list[_WorkerDeath]:
    """The deaths of a job's workers since one came to an end, the last one last.

    Args:
      folder: where they kept their status; no worker is there.
      kind: of the job.
      share: how much of it is done, in [0, 1].
    """
    try:
        first, _, rest = read_text_beginning(folder / CRASH_FILE, _MAX_READ_BYTES).partition("\n")
        mark: _WorkerMark = check_json_value(_WorkerMark, parse_json(first.encode()), CRASH_FILE)
    except (OSError, ValueError):
        return []
    if mark["host"] != socket.gethostname() and not rest:
        return mark["deaths"]  # What the kernel there counts is not known here.
    progress = kind.describe_kept_work(folder) if kind.saved_progress_entry else f"{100 * share:.2f} %"
    death = _WorkerDeath(cause=_find_death_cause(mark, rest), progress=progress)
    return [*mark["deaths"], death][-_MAX_DEATHS:]


def _find_death_cause(mark: _WorkerMark, written: str) -> str:
    """The cause of a death, as `_WorkerDeath` has it."""
    if found := re.search(r"^Fatal Python error: (.*)", written, re.M):
        return CRASHES.get(found[1].strip(), CRASHES["Aborted"])[0]
    if mark["boot"] != _read_boot_id():
        return _RESTARTED
    return OUT_OF_MEMORY if _count_oom_kills() > mark["oom_kills"] else KILLED


def _read_boot_id() -> str:
    """Which of its starts this machine is in; "" where the system does not say."""
    try:
        return BOOT_FILE.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _count_oom_kills() -> int:
    total = 0
    for file in OOM_COUNT_FILES:
        with contextlib.suppress(OSError, ValueError):
            total += sum(map(int, re.findall(r"^oom_kill (\d+)$", file.read_text("ascii"), re.M)))
    return total
