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

_EXIT_TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h
# Within this the child has to have stopped; then it is killed, and goes on from a checkpoint.
_STOP_TIMEOUT_SECONDS = 60.0


class Command:
    """A command, called on a node; what submitit calls checkpointable.

    Attributes:
      words: the command, from the program on.
      environment: variables that it is given beside those of its task.
      log: what it writes goes to this file's end, or, without one, into the task's own.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], log: Path | None = None) -> None:
        self.words, self.environment, self.log = tuple(words), dict(environment), log
        self._child: subprocess.Popen[bytes] | None = None
        self._asked = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_child": None, "_asked": False}

    def __call__(self) -> int:
        """Run it to its end.

        Returns:
          The child's exit status; nobody waits for it: the child's files say what came of it.
        """
        signal.signal(signal.SIGTERM, self._forward_signal)
        with open_plain_append(self.log) if self.log else nullcontext() as log:
            self._child = subprocess.Popen(
                self.words,
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
        if self._asked:
            self._requeue_task()
        print(f"The command ended with status {code}.", flush=True)
        return code

    def checkpoint(self) -> "submitit.helpers.DelayedSubmission":
        """Stop the child, wait for it, and say what to call when the task is back."""
        import submitit.helpers

        if self._child is not None:
            print("Slurm wants the node back: stopping the command.", flush=True)
            self._terminate_child()
            if not _wait_for_child(self._child.pid, _STOP_TIMEOUT_SECONDS):
                print("It did not stop: it continues from its last checkpoint.", flush=True)
                self._child.kill()
        return submitit.helpers.DelayedSubmission(self)

    def _forward_signal(self, signum: int, frame: FrameType | None) -> None:
        self._asked = True
        if self._child is not None:
            self._terminate_child()

    def _terminate_child(self) -> None:
        if self._child is not None:
            self._child.terminate()

    def _requeue_task(self) -> None:
        """Put the task into the queue again, unless it was canceled."""
        task = _read_own_task_id()
        command_output = _read_command_output("scontrol", "show", "job", "--oneliner", task)
        if " JobState=RUNNING " not in command_output:
            print("The task was canceled.", flush=True)
            return
        print("The task is queued again.", flush=True)
        _read_command_output("scontrol", "requeue", task)
        sys.exit(_EXIT_TRY_AGAIN)


def _read_own_task_id() -> str:
    """This task's id; the number of the last of an array alone would mean all of them."""
    array_id = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array_id}_{os.environ['SLURM_ARRAY_TASK_ID']}" if array_id else os.environ["SLURM_JOB_ID"]


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
