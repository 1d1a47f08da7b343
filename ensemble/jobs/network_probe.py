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

from ensemble import architectures
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.worker_death import format_exit_status
from ensemble.machine.network_cost import NetworkCost
from ensemble.machine.python_command import build_python_command
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.field_checks import Count, check_json_value

_PROBE_TIMEOUT_S = 60.0
_MAX_OUTPUT_BYTES = 2**22  # of an answer, which has a line for each array
_MAX_WATCHED_FILES = 500
_MAX_NOTES, MAX_NOTE_LENGTH = 8, 500
POLL_INTERVAL_S = 0.05
_ADVICE_FILE = "network_advice.json"  # in the folder of a run
_OOM_SCORE = "1000"  # where memory runs out, the kernel ends this process before the server


class _ProbedLayer(TypedDict):
    """One of a network's arrays: its path, and its shape."""

    path: str
    shape: list[Count]


class _ProbeAnswer(TypedDict):
    """What is read of what `network NAME --json` prints."""

    parameters: Count
    flops: Count
    carried: Count
    outputs: Count
    layers: list[_ProbedLayer]
    bfloat16: bool
    notes: list[str]
    advice: list[str]


class _StoredAdvice(TypedDict):
    """What a run keeps of what was said of its network."""

    advice: list[str]


class _ProbeRefusal(TypedDict):
    """The same of a network that cannot be had."""

    error: str


# What harms the networks that were asked, by their name and the dataset's.
_known_advice: dict[tuple[str, str], tuple[str, ...]] = {}


@dataclass(frozen=True)
class ProbeResult:
    """What is known of a network by now; nothing yet, where all is empty.

    Attributes:
      cost: what a member takes.
      problem: why it cannot be trained, one sentence.
      bfloat16: whether it can be told to multiply so.
      notes: what is done with it otherwise than it says, a sentence each.
      advice: what harms it, though it can be trained so; likewise.
      layers: the path and the shape of each of its arrays.
    """

    cost: NetworkCost | None = None
    problem: str = ""
    bfloat16: bool = True
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    layers: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def is_pending(self) -> bool:
        """Whether the answer is still to come."""
        return self.cost is None and not self.problem


class NetworkProbe:
    """One question, asked when made.

    Args:
      name: of a network, if one's own, one that is allowed here.
      dataset: whose images it would learn.
      command: what to ask instead.
      patience: seconds until it has to have answered.
      width: of its layers, where it is built in.
    """

    def __init__(
        self, name: str, dataset: str, command: tuple[str, ...] = (), patience: float = _PROBE_TIMEOUT_S, width: int = 0
    ) -> None:
        words = ("network", name, "--dataset", dataset, "--width", str(width), "--json")
        self.name, self._dataset, self._known = name, dataset, ProbeResult()
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
            Path(f"/proc/{self._process.pid}/oom_score_adj").write_text(_OOM_SCORE)

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
            self._known = ProbeResult(problem=_describe_silent_network(self.name, "did not answer in time"))
        else:
            self._output.seek(0)
            self._known = _parse_probe_output(self.name, self._output.read(_MAX_OUTPUT_BYTES), status)
            _known_advice[self.name, self._dataset] = self._known.advice
        self._output.close()

    def wait(self) -> ProbeResult:
        """What is known once it has answered, or has had its time."""
        while (result := self.result).is_pending:
            time.sleep(POLL_INTERVAL_S)
        return result


def _parse_probe_output(name: str, output: bytes, status: int) -> ProbeResult:
    try:
        answer = parse_json(output.strip().rpartition(b"\n")[2])
        if isinstance(answer, dict) and "error" in answer:
            refusal: _ProbeRefusal = check_json_value(_ProbeRefusal, answer, "answer")
            return ProbeResult(problem=refusal["error"])
        probe_answer: _ProbeAnswer = check_json_value(_ProbeAnswer, answer, "answer")
    except ValueError:
        what = f"crashed the process that inspected it ({format_exit_status(status)})"
        return ProbeResult(problem=_describe_silent_network(name, what))
    cost = NetworkCost(
        probe_answer["parameters"], probe_answer["flops"], probe_answer["carried"], probe_answer["outputs"]
    )
    return ProbeResult(
        cost,
        bfloat16=probe_answer["bfloat16"],
        notes=_shorten_sentences(probe_answer["notes"]),
        advice=_shorten_sentences(probe_answer["advice"]),
        layers=tuple((layer["path"], tuple(layer["shape"])) for layer in probe_answer["layers"]),
    )


def _shorten_sentences(sentences: list[str]) -> tuple[str, ...]:
    return tuple(sentence[:MAX_NOTE_LENGTH] for sentence in sentences[:_MAX_NOTES])


def _describe_silent_network(name: str, what: str) -> str:
    return f"{name} {what}: `ensemble network {name}` shows why."


def list_code_versions(name: str) -> tuple[tuple[str, int, int], ...]:
    """Changes when the network's code in the working folder does: each file's time and size."""
    top = Path(name.partition(":")[0].partition(".")[0])
    files = itertools.chain([top.with_suffix(".py")], sorted(top.rglob("*.py")))
    versions = []
    for file in itertools.islice(files, _MAX_WATCHED_FILES):
        with contextlib.suppress(OSError):
            file_stat = file.stat()
            versions.append((str(file), file_stat.st_mtime_ns, file_stat.st_size))
    return tuple(versions)


def check_own_network(config: EnsembleConfig) -> tuple[str, ...]:
    """What the author of a network of one's own should know, a sentence each; () of a built-in one.

    Raises:
      ConfigError: it cannot be imported or trained, or not in this precision.
    """
    result = ask_own_network(config)
    return (*result.notes, *result.advice)


def ask_own_network(config: EnsembleConfig) -> ProbeResult:
    """See that a network of one's own can be trained so, before there is a run of it.

    Args:
      config: of the run; nothing is asked where its network is built in.

    Returns:
      What it said; nothing of a built-in one.

    Raises:
      ConfigError: it cannot be imported or trained, or not in this precision.
    """
    name = str(config.network)
    if not architectures.is_custom_network(name):
        return ProbeResult()
    result = NetworkProbe(name, str(config.dataset)).wait()
    if problem := result.problem or describe_unfit_precision(config, result):
        raise ConfigError(problem)
    return result


def describe_unfit_precision(config: EnsembleConfig, result: ProbeResult) -> str:
    """Why a network cannot be trained in the precision that is asked for; else ""."""
    if config.precision == "float32" or result.bfloat16:
        return ""
    return f"{config.network} has no field dtype, which {config.precision} needs: choose float32, or give it one."


def write_network_advice(folder: Path, config: EnsembleConfig) -> None:
    """Keep with a new run what harms its network, where that was asked here.

    Raises:
      OSError: it cannot be written.
    """
    if advice := _known_advice.get((str(config.network), str(config.dataset))):
        write_json(folder / _ADVICE_FILE, {"advice": list(advice)})


def read_network_advice(folder: Path) -> tuple[str, ...]:
    """What was kept with a run of its network; () where nothing was, or it cannot be read."""
    try:
        kept: _StoredAdvice = check_json_value(_StoredAdvice, read_json(folder / _ADVICE_FILE), _ADVICE_FILE)
    except (OSError, ValueError):
        return ()
    return _shorten_sentences(kept["advice"])
