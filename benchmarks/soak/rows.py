"""What was tried and what was lost: a row a kind of attack, and the table of them all."""

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

HEAD = ("what", "tried", "survived", "lost", "seconds")

MOST_SHOWN = 12


class LostError(Exception):
    """Something else was seen than should have been; the message says what."""


@dataclass
class Row:
    """One kind of attack.

    Attributes:
      what: its name, in the table.
      tried: how many times.
      lost: one line for each time that it was not survived: which, and what was seen.
      seconds: how long all of them took together.
      skipped: why none could be tried here; "" where they could.
      every: a line of progress comes after so many tries, and after each loss.
    """

    what: str
    tried: int = 0
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str = ""
    every: int = 1

    @property
    def survived(self) -> int:
        """How many times nothing was lost."""
        return self.tried - len(self.lost)

    @contextmanager
    def attempt(self, *words: object) -> Iterator[list[object]]:
        """One try: whatever is raised within it is a loss, and the next one comes all the same.

        Yields:
          the words that say which try it was; those who know more add to them.
        """
        self.tried += 1
        details, began, problem = list(words), time.monotonic(), ""
        try:
            yield details
        except LostError as error:
            problem = str(error)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{error!r} at {place.filename}:{place.lineno}"
        seconds = time.monotonic() - began
        self.seconds += seconds
        which = " ".join(str(word) for word in (self.what, self.tried, *details))
        if problem:
            self.lost.append(f"{which}: {problem}")
        if problem or self.tried % self.every == 0:
            say(f"{which} · {seconds:.1f} s{' · LOST: ' + problem if problem else ''}")


def expect(true: object, message: object) -> None:
    """A loss unless it is true.

    Args:
      true: what should be.
      message: what is said where it is not.
    """
    if not true:
        raise LostError(str(message))


def say(words: str) -> None:
    """A line of progress."""
    print(words[:400], file=sys.stderr, flush=True)


def table(rows: Sequence[Row]) -> str:
    """The rows as text, and below them each loss."""
    lines: list[tuple[str, ...]] = [HEAD]
    for row in rows:
        numbers = (row.tried, row.survived, len(row.lost), round(row.seconds))
        cells = map(str, numbers) if not row.skipped else (f"skipped: {row.skipped}", "", "", "")
        lines.append((row.what, *cells))
    wide = [max(len(line[0]) for line in lines), 5, 8, 4, 7]
    text = [
        "  ".join(
            [line[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in zip(line[1:], wide[1:], strict=True))]
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*text, *(line for row in rows for line in losses(row))])


def losses(row: Row) -> Iterator[str]:
    """A line for each of the first losses, and how many more there are."""
    yield from (f"LOST  {loss}" for loss in row.lost[:MOST_SHOWN])
    if len(row.lost) > MOST_SHOWN:
        yield f"LOST  {row.what}: {len(row.lost) - MOST_SHOWN} more"
