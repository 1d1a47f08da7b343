"""A disk that knows no locks: one sentence says so, and nothing is made or changed.

Such a disk says so by an error number at each lock, as `fcntl.flock` does here: in a process of its
own, which is the program in all else.
"""

import itertools
import random
import shutil
from pathlib import Path

from benchmarks.soak.place import SETTINGS, Place, ended, kill, python, start, wait_until
from benchmarks.soak.rows import Row, expect

ERRORS = ("ENOLCK", "ENOSYS", "EOPNOTSUPP")
# Its words: the error, then what `ensemble` is told, or "launch" as the page Train does it.
WITHOUT_LOCKS = """
import errno, fcntl, os, sys

def refuse(*words):
    raise OSError(number, os.strerror(number))

number, fcntl.flock = getattr(errno, sys.argv.pop(1)), refuse
if sys.argv[1] == "launch":
    from ensemble import runs
    from ensemble.config import EnsembleConfig
    from ensemble.errors import RunError
    try:
        runs.launch_run(EnsembleConfig())
    except RunError as error:
        sys.exit(str(error))
from ensemble.cli.program import main
main(prog_name="ensemble")
"""
SWEEP = ("--network=logistic", "--members=2", "--epochs=1", "--space=learning_rate=0.1,0.2")


def try_without_locks(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many commands that are to make, or go on with, work on a disk without locks.

    Args:
      place: where.
      rng: draws the error that the disk says.
      count: how many.
    """
    row = Row("no locks")
    with place.part("no-locks") as runs:
        finished = shutil.copytree(place.undisturbed, runs / "digits-0101-000001").name
        stopped = start_and_kill(runs, "digits", "train", f"--members={SETTINGS['members']}")
        sweep = start_and_kill(runs, "sweep", "sweep", *SWEEP)
        commands = (
            ("train", "--network=logistic"),
            ("sweep", *SWEEP),
            ("train", "--resume", stopped),
            ("sweep", "--resume", sweep),
            ("stress", finished),
            ("launch",),
            ("lbfgs",),
        )
        for words in itertools.islice(itertools.cycle(commands), count):
            error = rng.choice(ERRORS)
            with row.attempt(words[0], *words[1:2], error):
                before = read_folders(place)
                check_refusal(error, words)
                changed = {name for name, _ in before ^ read_folders(place)}
                expect(not changed, f"changed: {sorted(changed)}")
    return [row]


def start_and_kill(runs: Path, stem: str, *words: str) -> str:
    """The id of a job that was cut off as soon as its folder was there and it had begun."""
    before = set(runs.iterdir())

    def find_begun() -> list[Path]:
        return [
            file.parent
            for file in runs.glob(f"{stem}-*/status.json")
            if file.parent not in before and '"pid": null' not in file.read_text()
        ]

    child = start(*words)
    expect(wait_until(find_begun, every=0.05), f"{words[0]} did not begin")
    kill(child)
    return find_begun()[0].name


def check_refusal(error: str, words: tuple[str, ...]) -> None:
    """A loss unless a command is refused in one sentence or two that name the folder to change."""
    done = ended(python("-c", WITHOUT_LOCKS, error, *words))
    lines = done.err.strip().splitlines()
    expect(done.code == 1, f"it ended with {done.code}: {done.err[-200:]!r}")
    expect(not done.out.strip(), f"it printed {done.out[-200:]!r}")
    says = len(lines) == 1 and "cannot be locked" in lines[0] and "Point ENSEMBLE_" in lines[0]
    expect(says, f"it said {done.err[-300:]!r}")


def read_folders(place: Place) -> set[tuple[str, bytes]]:
    """What the folders of runs and of data hold: each file's name with its bytes."""
    return {
        (str(file.relative_to(place.folder)), file.read_bytes())
        for folder in ("runs-no-locks", "data")
        for file in (place.folder / folder).rglob("*")
        if file.is_file()
    }
