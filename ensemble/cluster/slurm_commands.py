"""Asking Slurm through its own commands, with a limit on the time, and in words what it refuses.

Answers and refusals are cached for some seconds, so that pages may ask as often as they are drawn.
"""

import os
import re
import subprocess
import threading
import time

from ensemble.cluster.slurm_reasons import find_refusal_remedy
from ensemble.errors import ClusterError

COMMAND_TIMEOUT_SECONDS = 5.0  # that a command may take: Slurm answers within milliseconds where it answers
ANSWER_CACHE_SECONDS, REFUSAL_CACHE_SECONDS = (3.0, 30.0)  # seconds that an answer is used, and that a refusal is

_answers: dict[tuple[str, ...], tuple[float, "str | ClusterError"]] = {}
_answers_lock = threading.Lock()


class SlurmNotSetUpError(ClusterError):
    """Slurm's commands are here, and no cluster that they would speak to."""


def query_slurm(*command: str) -> str:
    """What one of Slurm's commands prints.

    Raises:
      ClusterError: it is not here, does not answer within its time, or refuses.
    """
    if (named := os.environ.get("SLURM_CONF")) and not os.path.isfile(named):
        # Slurm's commands would wait a minute for it.
        raise SlurmNotSetUpError(f"SLURM_CONF names no file: {named}.")
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired as error:
        raise ClusterError(
            f"Slurm does not answer: {command[0]} took longer than {COMMAND_TIMEOUT_SECONDS:g} "
            "seconds. Nothing is lost; try again later, or ask whoever runs the cluster."
        ) from error
    except OSError as error:
        raise SlurmNotSetUpError(
            f"There is no Slurm on this machine ({command[0]} cannot be run): start this on a machine of the cluster."
        ) from error
    if ended.returncode:
        raise_slurm_refusal(command[0], ended.stderr.decode(errors="replace"))
    return ended.stdout.decode(errors="replace")


def raise_slurm_refusal(command: str, output: str) -> None:
    """Raise ClusterError for what a command of Slurm's wrote to stderr when it refused."""
    why = _extract_last_message(output) or "it gave no reason"
    if "configuration source" in output:
        raise SlurmNotSetUpError(
            "Slurm's commands are installed here, but they find no cluster: set SLURM_CONF, "
            "or start this on a machine of the cluster."
        )
    raise ClusterError(f"Slurm refused ({command}): {why:.300}. {find_refusal_remedy(why)}".rstrip())


def _extract_last_message(output: str) -> str:
    lines = [re.sub(r"^(\w+: )?((error|fatal): )?", "", line.strip()) for line in output.splitlines()]
    return next((line.rstrip(".") for line in reversed(lines) if line), "")


def query_slurm_cached(*command: str) -> str:
    """As `query_slurm`, or what was answered a moment ago."""
    key = (os.environ.get("SLURM_CONF", ""), *command)
    with _answers_lock:
        at, answer = _answers.get(key, (0.0, ""))
        lasts = REFUSAL_CACHE_SECONDS if isinstance(answer, ClusterError) else ANSWER_CACHE_SECONDS
        if key not in _answers or time.monotonic() - at > lasts:
            try:
                answer = query_slurm(*command)
            except ClusterError as error:
                answer = error
            _answers[key] = time.monotonic(), answer
    if isinstance(answer, ClusterError):
        raise answer.with_traceback(None)
    return answer


def clear_slurm_cache() -> None:
    """Ask Slurm again at the next question, as after something was submitted."""
    with _answers_lock:
        _answers.clear()
