"""Runs that repeat each other, as one: those that differ in the seed alone, or as is asked."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ensemble.comparison.compared_settings import (
    Value,
    check_setting_names,
    collect_run_settings,
    distinguishing_settings,
    find_differing_settings,
    format_setting,
)
from ensemble.config import CLASSIFICATION
from ensemble.errors import DataError
from ensemble.runs.store import Run
from ensemble.tables.prepared_table import read_table_fingerprint

_EXACT_DIGITS = 17  # significant figures that tell any two numbers apart


@dataclass(frozen=True)
class RunGroup:
    """Runs that are one curve and one column.

    Attributes:
      title: the settings that tell it apart from the other groups: "rate 0.1 · 4 members". No
        two groups that were made together have the same.
      key: a short word that stays the same for the same settings, for widgets and addresses.
      runs: at least one, in the order in which they were given.
      values: of the settings that the title names, where they are known.
    """

    title: str
    key: str
    runs: tuple[Run, ...]
    values: Mapping[str, Value] = field(default_factory=dict, compare=False)

    @property
    def distinct_runs(self) -> tuple[Run, ...]:
        """Its runs without repetitions: one of each seed, the one that came furthest.

        The same seed with the same settings gives the same numbers again: to count them twice
        would make every interval too short.
        """
        runs_by_seed: dict[str, Run] = {}
        for run in self.runs:
            same = run.id if run.settings is None else repr((distinguishing_settings(run), run.settings.seed))
            if same not in runs_by_seed or run.status.epoch > runs_by_seed[same].status.epoch:
                runs_by_seed[same] = run
        return tuple(runs_by_seed.values())


def group_runs(runs: Sequence[Run], by: Sequence[str] | None = None) -> list[RunGroup]:
    """The runs in groups, in the order of the settings that tell them apart.

    Runs of different datasets are never one group: their figures are of different images. Where
    a run was trained (`devices`, `groups`) parts nothing unless it is asked for, since members
    do not depend on it; `precision` does. A run that was imported is a group of its own: nobody
    knows its settings.

    Args:
      runs: any number; one that comes twice counts once.
      by: settings, for groups of runs that are equal in these, whatever else differs; None for
        groups of runs that differ in the seed alone.

    Raises:
      ConfigError: there is no such setting.
    """
    names = None if by is None else check_setting_names(by)
    runs_by_key: dict[str, list[Run]] = {}
    values: dict[str, dict[str, Value]] = {}
    for run in {each_run.id: each_run for each_run in runs}.values():
        its = _grouping_values(run, names)
        key = _group_key(run, its)
        runs_by_key.setdefault(key, []).append(run)
        values[key] = its
    keys = list(runs_by_key)
    apart = find_differing_settings(values[key] for key in keys if runs_by_key[key][0].settings)
    settings_by_key = {key: _select_values(values[key], (*(names or ()), *apart)) for key in keys}
    titles = _build_group_titles(keys, settings_by_key, runs_by_key)
    groups = [RunGroup(titles[key], key, tuple(runs_by_key[key]), settings_by_key[key]) for key in keys]
    return sorted(groups, key=lambda group: (group.runs[0].settings is None, _group_sort_key(group.values)))


def _group_key(run: Run, values: Mapping[str, Value]) -> str:
    """A word for a run's group: of one that was imported its own.

    Another dataset that has come to the name of one's own is told by its fingerprint.
    """
    text = repr((run.id if run.settings is None else _identify_examples(run), values))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def have_same_table(run: Run, other: Run) -> bool:
    """Whether two regressions that were trained here learn from one table, split alike."""
    if run.settings is None or other.settings is None:
        return False
    try:
        return read_table_fingerprint(run.path) == read_table_fingerprint(other.path)
    except DataError:
        return False


def _identify_examples(run: Run) -> str:
    """Identify the data of a run: its dataset, or its table with the split."""
    return run.data.fingerprint if run.task == CLASSIFICATION else read_table_fingerprint(run.path)


def _select_values(values: Mapping[str, Value], names: Sequence[str]) -> dict[str, Value]:
    return {name: values[name] for name in names if name in values}


def _grouping_values(run: Run, names: Sequence[str] | None) -> dict[str, Value]:
    if run.settings is None:
        return {}
    if names is None:
        return distinguishing_settings(run)
    every = collect_run_settings(run)
    return {name: every[name] for name in (*names, "dataset") if name in every}


def _build_group_titles(
    keys: Sequence[str], settings_by_key: Mapping[str, Mapping[str, Value]], runs: Mapping[str, list[Run]]
) -> dict[str, str]:
    """A title for each key, none twice: with more digits, else with a number, where need be."""
    for figures in (4, _EXACT_DIGITS):
        titles = {key: _build_group_title(settings_by_key[key], runs[key][0], figures) for key in keys}
        if len(set(titles.values())) == len(keys):
            return titles
    counts: dict[str, int] = {}
    for key, title in titles.items():
        counts[title] = counts.get(title, 0) + 1
        if counts[title] > 1:
            titles[key] = f"{title} ({counts[title]})"
    return titles


def _build_group_title(settings: Mapping[str, Value], run: Run, figures: int) -> str:
    if run.settings is None:
        return run.name
    every = collect_run_settings(run)
    usual = {name: every[name] for name in ("dataset", "learning_rate", "members") if name in every}
    return " · ".join(format_setting(name, value, figures) for name, value in (settings or usual).items())


def _group_sort_key(values: Mapping[str, Value]) -> tuple[Any, ...]:
    return tuple(
        (
            isinstance(value, str),
            value if isinstance(value, str) else "",
            value if isinstance(value, tuple) else () if isinstance(value, str) else (value,),
        )
        for value in values.values()
    )
