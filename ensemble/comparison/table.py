"""Groups of runs side by side: settings, figures with intervals, differences to the baseline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.comparison.differences import Difference, adjusted, difference
from ensemble.comparison.groups import Group
from ensemble.comparison.images import same_images
from ensemble.comparison.measures import LAST, VALIDATION, Measures, measures
from ensemble.comparison.metrics import Figure, figures
from ensemble.comparison.settings import NAMES, Value, label, settings_of, shown
from ensemble.errors import EnsembleError, RunError
from ensemble.runs.status import who_was_set_aside
from ensemble.runs.store import Run

CUT_SHORT = ("stopped", "failed", "diverged")
FEW = 3  # values of a setting, and runs in a sentence, that are named one by one


@dataclass(frozen=True)
class Setting:
    """One row of settings.

    Attributes:
      name: of the setting.
      label: for people.
      texts: of each column, "0.1" or, where its runs differ, "0.1, 0.3".
      values: of each column its runs' distinct values; () where they are not known.
      differs: whether the columns are not all the same in it.
    """

    name: str
    label: str
    texts: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    differs: bool


@dataclass(frozen=True)
class Column:
    """One group of the table.

    Attributes:
      group: its runs.
      counted: ids of the runs that its figures are of: without repetitions of a seed, on the
        same images.
      epochs: after which epoch each of them is.
      chosen: how these epochs were chosen: some of "validation" and "last".
      figures: by the names of `metrics.METRICS`.
      difference: to the baseline; None of the baseline itself, and where there is none.
      why: why there is no difference: "", "baseline", "no baseline", "other images" or "no
        predictions".
    """

    group: Group
    counted: tuple[str, ...]
    epochs: tuple[int, ...]
    chosen: frozenset[str]
    figures: dict[str, Figure]
    difference: Difference | None
    why: str


@dataclass(frozen=True)
class Table:
    """Groups of runs beside each other.

    Attributes:
      columns: one a group, in the order in which they were given.
      settings: every setting; `differs` says which to show where there is little room.
      baseline: the key of the group that the others are held against; None for none.
      tests: how many tests every adjusted p is adjusted for.
      warnings: sentences on what is not comparable, or not whole.
      note: a sentence that says after which epoch the runs are compared.
    """

    columns: tuple[Column, ...]
    settings: tuple[Setting, ...]
    baseline: str | None
    tests: int
    warnings: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class _Read:
    """A group as it could be read: its runs that count, and what each comes to."""

    group: Group
    runs: tuple[tuple[Run, Measures | None], ...]
    warnings: tuple[str, ...]

    @property
    def made(self) -> tuple[Measures, ...]:
        return tuple(made for _, made in self.runs if made is not None)

    @property
    def judged(self) -> Run:
        """One of its runs that have predictions, all of which are of the same images."""
        return next(run for run, made in self.runs if made is not None)


def table(groups: Sequence[Group], baseline: str | None = None) -> Table:
    """The groups beside each other; what cannot be read is said, and the rest is shown.

    Args:
      groups: from `groups.grouped`, each once.
      baseline: the id of a run: its group is what the others are held against.

    Raises:
      RunError: the baseline is in none of the groups.
    """
    base = _baseline(groups, baseline)
    read = [_read(group) for group in groups]
    against = next((one for one in read if base and one.group.key == base.key), None)
    found = [_difference(one, against) for one in read]
    tested = adjusted([one for one in found if isinstance(one, Difference)])
    rest = iter(tested)
    columns = tuple(
        _column(
            one,
            next(rest) if isinstance(each, Difference) else None,
            each if isinstance(each, str) else "",
        )
        for one, each in zip(read, found, strict=True)
    )
    return Table(
        columns,
        _settings(groups),
        base.key if base else None,
        2 * len(tested),
        tuple(dict.fromkeys([*_of_all(read), *(said for one in read for said in one.warnings)])),
        _note(columns),
    )


def _baseline(groups: Sequence[Group], run_id: str | None) -> Group | None:
    if run_id is None:
        return None
    for group in groups:
        if any(run.id == run_id for run in group.runs):
            return group
    raise RunError(f"The baseline {run_id!r:.70} is none of the runs compared: choose one of them.")


def _read(group: Group) -> _Read:
    found: list[tuple[Run, Measures | None]] = []
    said: list[str] = []
    for run in group.counted:
        try:
            made = measures(run)
        except EnsembleError as error:
            why = str(error)
            # Most errors name their run themselves.
            said.append(why if run.id in why else f"“{run.name}” has no figures here: {why}")
            found.append((run, None))
            continue
        found.append((run, made))
        said += _not_whole(run, made.epoch)
    judged = [one for _, one in found if one is not None]
    if len({one.images for one in judged}) > 1:
        first = Counter(one.images for one in judged).most_common(1)[0][0]
        found = [(run, one if one and one.images == first else None) for run, one in found]
        said.append(
            f"The runs of “{group.title}” were tested on different images: the figures "
            "are of those on the images that most of them have."
        )
    planned = {run.config.epochs for run, _ in found}
    if len({one.epoch for one in judged}) > len(planned) and {LAST} == {
        one.chosen for one in judged
    }:
        said.append(f"The runs of “{group.title}” have come to different epochs.")
    return _Read(group, tuple(found), tuple(said))


def _not_whole(run: Run, epoch: int) -> list[str]:
    """What to know of a run's figures after an epoch: epochs or members that are not in them."""
    said = []
    if run.state in CUT_SHORT:
        said.append(
            f"“{run.name}” is {run.state} after epoch {run.status.epoch:,} of "
            f"{run.config.epochs:,}."
        )
    if run.active:
        said.append(f"“{run.name}” is {run.state}: its figures are those so far.")
    if len(run.remaining(epoch)) < run.config.members:
        who = who_was_set_aside(run.status, run.config.members, over=not run.active)
        said.append(f"“{run.name}”: {who[:1].lower()}{who[1:]}")
    return said


def _difference(one: _Read, base: _Read | None) -> Difference | str:
    if base is None:
        return "no baseline"
    if one is base:
        return "baseline"
    if not one.made or not base.made:
        return "no predictions"
    if not same_images(one.judged, base.judged):
        return "other images"
    return difference(one.made, base.made)


def _column(one: _Read, found: Difference | None, why: str) -> Column:
    return Column(
        one.group,
        tuple(made.run_id for made in one.made),
        tuple(made.epoch for made in one.made),
        frozenset(made.chosen for made in one.made),
        figures(one.runs),
        found,
        why,
    )


def _settings(groups: Sequence[Group]) -> tuple[Setting, ...]:
    every = [[settings_of(run) for run in group.runs] for group in groups]
    rows = []
    for name in NAMES:
        values = tuple(
            tuple({repr(row[name]): row[name] for row in each if name in row}.values())
            for each in every
        )
        texts = tuple(_text(name, each) for each in values)
        rows.append(Setting(name, label(name), texts, values, len(set(map(repr, values))) > 1))
    return tuple(rows)


def _text(name: str, values: Sequence[Value]) -> str:
    if not values:
        return "–"
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) == len(values):
        values = sorted(numbers)
    if len(values) > FEW:
        return f"{len(values):,} values"
    return ", ".join(shown(name, value) for value in values)


def _of_all(read: Sequence[_Read]) -> list[str]:
    """What holds for the whole table: that not all runs were tested on the same images."""
    judged = [one.judged for one in read if one.made]
    if all(same_images(run, judged[0]) for run in judged[1:]):
        return []
    return [
        "Not all of these were tested on the same images: their figures stand beside each other, "
        "but differences are shown only to a baseline on the same ones."
    ]


def _note(columns: Sequence[Column]) -> str:
    chosen = frozenset[str]().union(*(column.chosen for column in columns))
    if chosen == {VALIDATION}:
        return "Each run is compared after the epoch with its lowest NLL on the validation images."
    if chosen == {LAST}:
        return "Each run is compared after its last epoch: none was chosen on the test images."
    if not chosen:
        return ""
    return (
        "Runs with validation images are compared after the epoch with their lowest NLL on them, "
        "the others after their last epoch: none was chosen on the test images."
    )
