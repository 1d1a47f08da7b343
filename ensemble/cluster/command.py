"""What runs on a node: a command of this program as a child, its signals passed on, its return.

Slurm's signal before the end of a task's time, or at preemption, becomes SIGTERM to the child,
which then stops with a checkpoint; it is waited for, and the task is put into the queue again with
the same command. So it is when the task's node died: Slurm itself begins it again.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ensemble.storage.plain_files import open_plain_append

if TYPE_CHECKING:
    import submitit

# A peer of a process that came to its end ends with this status: EX_TEMPFAIL of sysexits.h.
EXIT_TRY_AGAIN = 75
MOST_RETRIES = 20
# Within this the child has to have stopped; then it is killed, and goes on from a checkpoint.
STOP_TIMEOUT_SECONDS = 60.0
SIGNAL_STATUS_BASE = 128  # a shell's status of a process that a signal ended is above this
EXIT_STOPPED = 130  # what this program's commands end with when they were stopped
# Around each process of a task on several nodes, so that its own status can be told: srun's is
# the largest of all. It lives as long as the process, whatever signal reaches both.
STATUS_WRAPPER = 'trap "" USR2; trap : TERM INT; folder=$1; shift; "$@" </dev/null; code=$?; '
STATUS_WRAPPER += 'echo "$code" >"$folder/$SLURM_PROCID"; exit "$code"'


class Command:
    """A command, called on a node; what submitit calls checkpointable.

    Attributes:
      words: the command, from the program on.
      environment: variables that it is given beside those of its task.
      nodes: how many nodes it is started on, once on each.
      folder: where its processes' statuses are written, if it has several nodes.
      log: what it writes goes to this file's end, or, without one, into the task's own.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        nodes: int = 1,
        folder: Path | None = None,
        log: Path | None = None,
    ) -> None:
        self.words, self.environment = tuple(words), dict(environment)
        self.nodes, self.folder, self.log = nodes, folder, log
        self._child: subprocess.Popen[bytes] | None = None
        self._asked = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_child": None, "_asked": False}

    def __call__(self) -> int:
        """Run it to its end.

        Returns:
          The child's exit status; nobody waits for it: the child's files say what came of it.
        """
        statuses = self._create_status_folder()
        signal.signal(signal.SIGTERM, self._forward_signal)
        with open_plain_append(self.log) if self.log else nullcontext() as log:
            self._child = subprocess.Popen(
                self._build_start_command(statuses),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                preexec_fn=_ignore_warning_signal,
            )
        if self._asked:
            self._terminate_child()
        _wait_for_child(self._child.pid)
        code = self._child.wait()
        if self._asked or (statuses and code and has_lost_peer(statuses, self.nodes)):
            self._requeue_task()
        print(f"The command ended with status {code}.", flush=True)
        return code

    def checkpoint(self) -> "submitit.helpers.DelayedSubmission":
        """Stop the child, wait for it, and say what to call when the task is back."""
        import submitit.helpers

        if self._child is not None:
            print("Slurm wants the node back: stopping the command.", flush=True)
            self._terminate_child()
            if not _wait_for_child(self._child.pid, STOP_TIMEOUT_SECONDS):
                print("It did not stop: it continues from its last checkpoint.", flush=True)
                self._child.kill()
        return submitit.helpers.DelayedSubmission(self)

    def _build_start_command(self, statuses: Path | None) -> list[str]:
        if statuses is None:
            return list(self.words)
        return [
            "srun",
            f"--nodes={self.nodes}",
            f"--ntasks={self.nodes}",
            "--ntasks-per-node=1",
            "--kill-on-bad-exit=1",
            "--input=none",
            "--label",
            "--unbuffered",
            *(["--cpus-per-task", cpus] if (cpus := os.environ.get("SLURM_CPUS_PER_TASK")) else []),
            "/bin/sh",
            "-c",
            STATUS_WRAPPER,
            "sh",
            str(statuses),
            *self.words,
        ]

    def _create_status_folder(self) -> Path | None:
        if self.nodes == 1 or self.folder is None:
            return None
        attempt = os.environ.get("SLURM_RESTART_COUNT", "0")
        status_folder = self.folder / f"statuses-{os.environ['SLURM_JOB_ID']}-{attempt}"
        status_folder.mkdir(mode=0o700, exist_ok=True)
        return status_folder

    def _forward_signal(self, signum: int, frame: FrameType | None) -> None:
        self._asked = True
        if self._child is not None:
            self._terminate_child()

    def _terminate_child(self) -> None:
        """Ask what runs here to stop."""
        if self.nodes == 1 and self._child is not None:
            self._child.terminate()
        else:  # srun would kill its processes if it were told itself.
            _read_command_output("scancel", "--signal=TERM", _read_own_task_id())

    def _requeue_task(self) -> None:
        """Put the task into the queue again, unless it was cancelled or it has come too often."""
        task = _read_own_task_id()
        again = int(os.environ.get("SLURM_RESTART_COUNT") or 0)
        if not self._asked and again >= MOST_RETRIES:
            print(f"It lost a peer {again + 1} times: it is not started again.", flush=True)
            return
        command_output = _read_command_output("scontrol", "show", "job", "--oneliner", task)
        if " JobState=RUNNING " not in command_output:
            print("The task was cancelled.", flush=True)
            return
        print("The task is queued again.", flush=True)
        _read_command_output("scontrol", "requeue", task)
        sys.exit(EXIT_TRY_AGAIN)


def _read_own_task_id() -> str:
    """This task's id; the number of the last of an array alone would mean all of them."""
    array_id = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array_id}_{os.environ['SLURM_ARRAY_TASK_ID']}" if array_id else os.environ["SLURM_JOB_ID"]


def has_lost_peer(statuses: Path, nodes: int) -> bool:
    """Whether a task on several nodes failed for the loss of a process or a node.

    Not if a process failed by itself: it would again. One that srun stopped for the loss of
    another, and one whose run was stopped, end alike.
    """
    ended = [int(file.read_text() or SIGNAL_STATUS_BASE) for file in statuses.iterdir()]
    stopped = (0, EXIT_STOPPED, SIGNAL_STATUS_BASE + signal.SIGTERM)
    failures = [status for status in ended if status not in stopped]
    if any(status < SIGNAL_STATUS_BASE and status != EXIT_TRY_AGAIN for status in failures):
        return False
    return bool(failures) or len(ended) < nodes


def _wait_for_child(pid: int, seconds: float = float("inf")) -> bool:
    """Whether a child has ended within so many seconds; it is not reaped.

    A signal's handler may wait within another wait: Popen.wait would lock itself out.
    """
    end = time.monotonic() + seconds
    ended = os.WEXITED | os.WNOWAIT
    if seconds == float("inf"):
        os.waitid(os.P_PID, pid, ended)
        return True
    while os.waitid(os.P_PID, pid, ended | os.WNOHANG) is None:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _ignore_warning_signal() -> None:
    """In the child before its program: Slurm sends its warning to every process of a task."""
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)


def _read_command_output(*command: str) -> str:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{command[0]} failed: {error}", flush=True)
        return ""
