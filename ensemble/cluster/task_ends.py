"""What a scheduler's own word for how a task ended means, and whether another try may go better."""

from dataclasses import dataclass
from typing import Literal

# "always": the task itself did nothing wrong. "progress": only if it came further than before.
# "unknown": nobody says what went wrong. "never": it would end alike, or nobody wants it.
Retry = Literal["always", "progress", "unknown", "never"]


@dataclass(frozen=True)
class _TaskEnd:
    """What a word for the end of a task means.

    Attributes:
      sentence: what became of the task, to go behind "its task on Slurm"; "" if that is not known.
      remedy: what to do, as a sentence; "" if there is nothing.
      retry: whether it is submitted again without being asked for.
      cancelled: whether somebody took it back.
    """

    sentence: str = ""
    remedy: str = ""
    retry: Retry = "unknown"
    cancelled: bool = False


_UNKNOWN_END = _TaskEnd()
TASK_ENDS = {
    "CANCELLED": _TaskEnd("was cancelled there", retry="never", cancelled=True),
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
    "FAILED": _TaskEnd("failed"),
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
