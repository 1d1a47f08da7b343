"""What a scheduler's own word for how a task ended means, and whether another try may go better."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ensemble.errors import ClusterError, ConfigError

# "always": the task itself did nothing wrong. "progress": only if it came further than before.
# "unknown": nobody says what went wrong. "never": it would end alike, or nobody wants it.
Retry = Literal["always", "progress", "unknown", "never"]
# How often a task is started again without getting further, and the pause before the next try if it is refused.
_MAX_RESTARTS, _REFUSED_PAUSE_SECONDS = 3, 30.0


@dataclass(frozen=True)
class _TaskEnd:
    """What a word for the end of a task means.

    Attributes:
      sentence: what became of the task, to go behind "its task on Slurm"; "" if that is not known.
      remedy: what to do, as a sentence; "" if there is nothing.
      retry: whether it is submitted again without being asked for.
      canceled: whether somebody canceled it.
    """

    sentence: str = ""
    remedy: str = ""
    retry: Retry = "unknown"
    canceled: bool = False


_UNKNOWN_END = _TaskEnd()
TASK_ENDS = {
    "CANCELLED": _TaskEnd("was canceled there", retry="never", canceled=True),
    "OUT_OF_MEMORY": _TaskEnd(
        "ran out of memory", "Give each task more with --memory; a smaller batch or more groups need less.", "never"
    ),
    "TIMEOUT": _TaskEnd(
        "was ended by its time limit before it could stop", "Give each task more minutes with --time.", "progress"
    ),
    "DEADLINE": _TaskEnd("was ended by its deadline", "Submit it without a deadline, or with a later one.", "never"),
    "PREEMPTED": _TaskEnd("was ended to make room for other tasks", retry="always"),
    "NODE_FAIL": _TaskEnd("lost its node", retry="always"),
    "BOOT_FAIL": _TaskEnd("was given a node that did not start", retry="always"),
    "REVOKED": _TaskEnd("was moved to another cluster", retry="always"),
    "FAILED": _TaskEnd(
        "failed",
        "Check that the folder of runs is on a disk that all machines share and has free space, and read the logs.",
    ),
}


def find_task_end(word: str) -> _TaskEnd:
    """What a scheduler's word for an end means; a word that is not known here says nothing."""
    return TASK_ENDS.get(word, _UNKNOWN_END)


def describe_task_end(word: str, where: str, memory: int = 0) -> str:
    """What became of a task, and what to do: "its task on Slurm ran out of memory …".

    Args:
      word: a scheduler's own.
      where: what people call the scheduler.
      memory: GB that the task had asked for; 0 where it asked for none.

    Returns:
      A sentence that begins with "its task on", with its remedy; "" where the word says nothing.
    """
    end = find_task_end(word)
    if not end.sentence:
        return ""
    had = f" of {memory} GB" if memory and word == "OUT_OF_MEMORY" else ""
    return f"its task on {where} {end.sentence}{had} ({word}). {end.remedy}".rstrip()


def summarize_task_ends(
    words: Mapping[int, str],
    total: int,
    where: str,
    kept: str = "",
    memory: int = 0,
    noun: str = "task",
    find_title: Callable[[int], str] = lambda number: "",
) -> tuple[str, str] | None:
    """Describe how a job ended whose tasks have all ended without finishing it.

    Args:
      words: how the scheduler says that the unfinished tasks ended, by their numbers.
      total: how many tasks the job has.
      where: what people call the scheduler.
      kept: a sentence on what is kept and how to continue.
      memory: GB that each task had asked for; 0 if it asked for none.
      noun: what a task does, "group" or "worker".
      find_title: returns what to call the part of the job with a number; "" for the job as a whole.

    Returns:
      The job's state and a sentence; None if the words say nothing.
    """
    canceled = [number for number, word in words.items() if find_task_end(word).canceled]
    for number, word in words.items():
        if number not in canceled and (sentence := describe_task_end(word, where, memory)):
            title = find_title(number)
            return "failed", f"{title}: {sentence} {kept}" if title else f"{sentence[0].upper()}{sentence[1:]} {kept}"
    if not canceled:
        return None
    return "stopped", f"{describe_canceled_tasks(canceled, total, where, noun)} {kept}".rstrip()


def describe_canceled_tasks(canceled: Iterable[int], total: int, where: str, noun: str) -> str:
    """Name the tasks that were canceled at a scheduler: "The task of group 2 was canceled in Slurm."."""
    numbers = sorted(canceled)
    if len(numbers) == total:
        tasks = "Its task was" if total == 1 else "Its tasks were"
    elif len(numbers) == 1:
        tasks = f"The task of {noun} {numbers[0]} was"
    else:
        tasks = f"The tasks of {noun}s {', '.join(map(str, numbers))} were"
    return f"{tasks} canceled in {where}."


class TaskRestarts:
    """Decides which lost tasks of a job are submitted again, and how often.

    Args:
      where: what people call who runs them.
      retries: ends after which another try may help.
    """

    def __init__(self, where: str, retries: Iterable[Retry] = ("always", "progress", "unknown")) -> None:
        self._where, self._retries = where, tuple(retries)
        # By the tasks' numbers: how far each was at its last start, how often it was started since it last
        # got further, and when it was refused last on this machine's clock.
        self._reached: dict[int, float] = {}
        self._starts: dict[int, int] = {}
        self._refused: dict[int, float] = {}

    def record_start(self, number: int, progress: float) -> None:
        """Record how far a task is that was submitted by request."""
        self._reached[number] = progress

    def try_restart(self, number: int, word: str, progress: float, start: Callable[[], None], title: str) -> bool:
        """Submit a lost task again if that may help.

        Args:
          number: of the task.
          word: the scheduler's for how it ended; "" if it does not say.
          progress: how far its work is, in any unit.
          start: submits it.
          title: what to call it in the log.

        Returns:
          Whether it was submitted, or is to be soon; False if it remains lost.
        """
        retry, further = find_task_end(word).retry, progress > self._reached.get(number, 0)
        if further:
            self._reached[number], self._starts[number] = progress, 0
        if retry not in self._retries or (retry == "progress" and not further):
            return False
        if time.monotonic() < self._refused.get(number, 0.0) + _REFUSED_PAUSE_SECONDS:
            return True
        if self._starts.get(number, 0) >= _MAX_RESTARTS:
            return False
        self._starts[number] = self._starts.get(number, 0) + 1
        what = describe_task_end(word, self._where) or "its task exited unexpectedly."
        print(f"{title}: {what} It is started again.", flush=True)
        try:
            start()
        except ClusterError as error:
            self._refused[number] = time.monotonic()
            print(f"{title}: it could not be started: {error}", flush=True)
        except ConfigError as error:
            print(f"{title}: it cannot be started again: {error}", flush=True)
            return False
        return True
