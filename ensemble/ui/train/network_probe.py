"""Networks of a person's own, asked what they are in a process that may fail without harm.

Their code is imported there, never by the process that serves pages: it may crash, end the
process, or never return.
"""

import contextlib
import itertools
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import streamlit as st

from ensemble.jobs.launch import build_worker_environment
from ensemble.machine.network_cost import NetworkCost
from ensemble.machine.python_command import build_python_command
from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.field_checks import Count, check_json_value

PROBE_TIMEOUT_S = 60.0
MAX_OUTPUT_BYTES = 2**22  # of an answer, which has a line for each array
MAX_WATCHED_FILES = 500
OOM_SCORE = "1000"  # where memory runs out, the kernel ends this process before the server


class ProbeAnswer(TypedDict):
    """What is read of what `network NAME --json` prints."""

    parameters: Count
    flops: Count
    carried: Count
    outputs: Count
    bfloat16: bool


class ProbeRefusal(TypedDict):
    """The same of a network that cannot be had."""

    error: str


@dataclass(frozen=True)
class ProbeResult:
    """What is known of a network by now; nothing yet, where all is empty.

    Attributes:
      cost: what a member takes.
      problem: why it cannot be trained, one sentence.
      bfloat16: whether it can be told to multiply so.
    """

    cost: NetworkCost | None = None
    problem: str = ""
    bfloat16: bool = True

    @property
    def is_pending(self) -> bool:
        """Whether the answer is still to come."""
        return self.cost is None and not self.problem


class NetworkProbe:
    """One question, asked when made.

    Args:
      name: of a network of one's own, that is allowed here.
      dataset: whose images it would learn.
      command: what to ask instead.
      patience: seconds until it has to have answered.
    """

    def __init__(
        self,
        name: str,
        dataset: str,
        command: tuple[str, ...] = (),
        patience: float = PROBE_TIMEOUT_S,
    ) -> None:
        words = ("network", name, "--dataset", dataset, "--json")
        self.name, self._known = name, ProbeResult()
        self._until = time.monotonic() + patience
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (read when the process has ended)
        try:
            self._process = subprocess.Popen(
                command or build_python_command(*words),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                env=build_worker_environment(),
                start_new_session=True,
            )
        except OSError as error:
            self._known = ProbeResult(problem=f"{name} could not be asked: {error}.")
            return
        # Importing JAX keeps a core busy: the page goes first.
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, 10)
            Path(f"/proc/{self._process.pid}/oom_score_adj").write_text(OOM_SCORE)

    @property
    def result(self) -> ProbeResult:
        """What is known by now."""
        if self._known.is_pending:
            self._poll_process()
        return self._known

    def _poll_process(self) -> None:
        if (status := self._process.poll()) is None:
            if time.monotonic() < self._until:
                return
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._known = ProbeResult(
                problem=describe_silent_network(self.name, "did not answer in time")
            )
        else:
            self._output.seek(0)
            self._known = parse_probe_output(self.name, self._output.read(MAX_OUTPUT_BYTES), status)
        self._output.close()


def parse_probe_output(name: str, output: bytes, status: int) -> ProbeResult:
    """What the last line of an answer says.

    Args:
      name: of the network.
      output: all that the process has written.
      status: with which it ended.
    """
    try:
        answer = parse_json(output.strip().rpartition(b"\n")[2])
        if isinstance(answer, dict) and "error" in answer:
            refusal: ProbeRefusal = check_json_value(ProbeRefusal, answer, "answer")
            return ProbeResult(problem=refusal["error"])
        probe_answer: ProbeAnswer = check_json_value(ProbeAnswer, answer, "answer")
    except ValueError:
        ended = f"signal {-status}" if status < 0 else f"exit status {status}"
        return ProbeResult(
            problem=describe_silent_network(
                name, f"crashed the process that inspected it ({ended})"
            )
        )
    cost = NetworkCost(
        probe_answer["parameters"],
        probe_answer["flops"],
        probe_answer["carried"],
        probe_answer["outputs"],
    )
    return ProbeResult(cost, bfloat16=probe_answer["bfloat16"])


def describe_silent_network(name: str, what: str) -> str:
    """A network that gave no answer, and how to see why."""
    return f"{name} {what}: `python -m ensemble network {name}` shows why."


def probe_own_network(name: str, dataset: str, fingerprint: str) -> ProbeResult:
    """What is known of a network of one's own for a dataset; asked once for each change of it.

    Args:
      name: of a network that is allowed here.
      dataset: whose images it would learn.
      fingerprint: of the dataset's images.
    """
    return _get_network_probe(name, dataset, fingerprint, list_code_versions(name)).result


def forget_network_probes() -> None:
    """Ask anew: for code that has changed where `list_code_versions` does not look."""
    _get_network_probe.clear()


@st.cache_resource(max_entries=64, show_spinner=False)
def _get_network_probe(
    name: str, dataset: str, fingerprint: str, version: tuple[tuple[str, int, int], ...]
) -> NetworkProbe:
    return NetworkProbe(name, dataset)


def list_code_versions(name: str) -> tuple[tuple[str, int, int], ...]:
    """Changes when the network's code in the working folder does: each file's time and size."""
    top = Path(name.partition(":")[0].partition(".")[0])
    files = itertools.chain([top.with_suffix(".py")], sorted(top.rglob("*.py")))
    versions = []
    for file in itertools.islice(files, MAX_WATCHED_FILES):
        with contextlib.suppress(OSError):
            file_stat = file.stat()
            versions.append((str(file), file_stat.st_mtime_ns, file_stat.st_size))
    return tuple(versions)
