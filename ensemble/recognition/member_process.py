"""A run's members in a process of their own, for programs whose own JAX is to stay as it is.

Asking members takes JAX on a CPU, with this project's settings. A notebook may have JAX on an
accelerator, with settings of its own, or not at all: so its process is left alone, and the members
are asked in another (member_process_main.py), which ends with the `MemberProcess` that started it.

Each side sends a line of JSON, then the bytes of an array where one follows.
"""

import contextlib
import json
import logging
import os
import subprocess
import tempfile
from collections.abc import Sequence
from typing import IO, Any, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from ensemble import errors
from ensemble.errors import ConfigError, EnsembleError, RunError
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.worker_death import format_exit_status
from ensemble.machine.python_command import build_python_command
from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.field_checks import Count, check_json_value

PROCESS_MODULE = "ensemble.recognition.member_process_main"
DEFAULT_BATCH_SIZE, MAX_BATCH_SIZE = 1024, 65_536
_MAX_LINE_BYTES = 2**16
_MAX_LOG_BYTES = 2**16
_CLOSE_TIMEOUT_S = 10.0


class OpenedMembers(TypedDict):
    """What the process says once the members are open."""

    epoch: Count
    members: list[Count]
    classes: Count


class MemberProcess:
    """Members that can be asked again and again; a context manager, whose end ends the process.

    Args:
      run_id: whose members.
      epoch: one of `list_member_epochs`; None is that of `select_default_epoch`.
      members: which, by their numbers from 0; None is all that had not diverged by then.

    Attributes:
      epoch: epochs that they have done.
      members: their numbers, from 0, in the order of the answers.

    Raises:
      EnsembleError: as `open_members`.
    """

    def __init__(self, run_id: str, epoch: int | None = None, members: Sequence[int] | None = None) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self._process = subprocess.Popen(
            build_python_command(module=PROCESS_MODULE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=build_worker_environment(),
            start_new_session=True,  # an interrupt is for the program that asks
        )
        numbers = None if members is None else [int(number) for number in members]
        with self._close_on_failure():
            self._send({"run_id": run_id, "epoch": epoch, "members": numbers})
            opened: OpenedMembers = check_json_value(
                OpenedMembers, self._receive_line(), "what the members' process says"
            )
        self.epoch, self.members = opened["epoch"], tuple(opened["members"])
        self._classes = opened["classes"]

    def predict_probabilities(
        self, images: NDArray[np.uint8], batch_size: int = DEFAULT_BATCH_SIZE
    ) -> NDArray[np.float32]:
        """What each member makes of images: float32 (M, N, C).

        Args:
          images: uint8 (N, H, W, channels) of the shape that the run learnt.
          batch_size: how many are asked about at a time, from 1 to 65,536.

        Raises:
          ConfigError: the batch size is out of its range.
          RunError: a probability is no number, or the process has ended.
        """
        if not 1 <= batch_size <= MAX_BATCH_SIZE:
            raise ConfigError(f"batch_size is {batch_size}: it has to be a whole number from 1 to {MAX_BATCH_SIZE:,}.")
        probabilities = np.empty((len(self.members), len(images), self._classes), np.float32)
        with self._close_on_failure():
            for first in range(0, len(images), batch_size):
                batch = images[first : first + batch_size]
                # The last batch is as large as the others: one compiled program for all.
                room = batch_size if len(images) > batch_size else len(batch)
                padded = np.zeros((room, *images.shape[1:]), np.uint8)
                padded[: len(batch)] = batch
                self._send({"shape": padded.shape}, padded.data)
                answer = np.empty((len(self.members), room, self._classes), np.float32)
                self._receive_line()
                self._receive_bytes(answer)
                probabilities[:, first : first + len(batch)] = answer[:, : len(batch)]
        return probabilities

    def close(self) -> None:
        """End the process; what is asked afterwards is refused."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):  # what was not sent is of no use any more
                    pipe.close()
        try:
            self._process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _close_on_failure(self) -> Any:
        """Whatever ends an exchange half-way ends the process: nobody knows where it stands."""
        try:
            yield
        except BaseException:
            self._process.kill()
            self.close()
            raise

    def _send(self, message: dict[str, Any], content: memoryview | bytes = b"") -> None:
        pipe = self._process.stdin
        if pipe is None or pipe.closed:
            raise RunError("These members have been closed: open them again.")
        try:
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.write(content)
            pipe.flush()
        except BrokenPipeError as error:
            raise self._explain_end() from error

    def _receive_line(self) -> dict[str, Any]:
        """The next line; what it says is wrong is raised as it was there."""
        line = self._output.readline(_MAX_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise self._explain_end()
        message = parse_json(line)
        if not isinstance(message, dict):
            raise self._explain_end()
        if "error" in message:
            kind = getattr(errors, str(message.get("kind")), RunError)
            raise kind(str(message["error"]))
        return message

    def _receive_bytes(self, array: NDArray[np.float32]) -> None:
        view = array.reshape(-1).data.cast("B")
        done = 0
        while done < len(view):
            count = self._output.readinto(view[done:])  # type: ignore[attr-defined]
            if not count:
                raise self._explain_end()
            done += count

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _explain_end(self) -> EnsembleError:
        """Why the process is no longer there; what it wrote stands in the log."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSE_TIMEOUT_S)
        status = self._process.poll()
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _MAX_LOG_BYTES))
        written = self._log.read().decode("utf-8", "replace").strip()
        logging.getLogger("ensemble").error("The process of a run's members ended.\n%s", written)
        how = format_exit_status(status) if status is not None else "it does not answer"
        last = written.rpartition("\n")[2][:300]
        return RunError(
            f"The process that asks the run's members ended ({how}"
            + (f": {last}" if last else "")
            + "). Give fewer images at a time with batch_size if memory ran out, and try again."
        )
