"""Groups of runs side by side: settings, figures with intervals, differences to the baseline."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ensemble.comparison.baseline import Baseline, choose_baseline
from ensemble.comparison.compared_settings import (
    SETTING_NAMES,
    Value,
    collect_run_settings,
    format_setting_value,
    humanize_setting_name,
)
from ensemble.comparison.differences import GroupDifference, adjust_differences, compute_group_difference
from ensemble.comparison.group_metrics import MetricEstimate, compute_group_metrics
from ensemble.comparison.image_identity import have_same_images
from ensemble.comparison.run_groups import RunGroup
from ensemble.comparison.run_measures import CHOSEN_LAST, CHOSEN_ON_VALIDATION, RunMeasures, measure_run
from ensemble.comparison.settings_verdict import VERDICT_METRICS, SettingsVerdict, judge_run_groups
from ensemble.errors import EnsembleError
from ensemble.runs.status import describe_diverged_members
from ensemble.runs.store import Run

_INCOMPLETE_STATES = ("stopped", "failed", "diverged")
MAX_LISTED_VALUES = 3  # values of a setting, and runs in a sentence, that are named one by one


@dataclass(frozen=True)
class _SettingRow:
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
class GroupColumn:
    """One group of the table.

    Attributes:
      group: its runs.
      run_ids: ids of the runs that its figures are of: without repetitions of a seed, on the
        same images.
      epochs: after which epoch each of them is.
      chosen: how these epochs were chosen: some of "validation" and "last".
      metrics: by the names of `metrics.METRICS`.
      difference: to the baseline; None of the baseline itself, and where there is none.
      no_difference_reason: why there is no difference: "", "baseline", "no baseline", "other
        images" or "no predictions".
    """

    group: RunGroup
    run_ids: tuple[str, ...]
    epochs: tuple[int, ...]
    chosen: frozenset[str]
    metrics: dict[str, MetricEstimate]
    difference: GroupDifference | None
    no_difference_reason: str


@dataclass(frozen=True)
class ComparisonTable:
    """Groups of runs beside each other.

    Attributes:
      columns: one a group, in the order in which they were given.
      settings: every setting; `differs` says which to show where there is little room.
      baseline: the key of the group that the others are held against; None for none.
      tests: how many tests every adjusted p is adjusted for: accuracy and NLL of all pairs of groups.
      warnings: sentences on what is not comparable, or not whole.
      note: a sentence that says after which epoch the runs are compared.
      verdicts: which settings are best, by metric; empty if no two groups can be compared.
    """

    columns: tuple[GroupColumn, ...]
    settings: tuple[_SettingRow, ...]
    baseline: str | None
    tests: int
    warnings: tuple[str, ...]
    note: str
    verdicts: Mapping[str, SettingsVerdict] = field(default_factory=dict)

    @property
    def datasets(self) -> frozenset[str]:
        """The names of the datasets of all its runs."""
        return frozenset(run.config.dataset for one in self.columns for run in one.group.runs)


@dataclass(frozen=True)
class _MeasuredGroup:
    """A group as it could be read: its runs that count, and what each comes to."""

    group: RunGroup
    runs: tuple[tuple[Run, RunMeasures | None], ...]
    warnings: tuple[str, ...]

    @property
    def measures(self) -> tuple[RunMeasures, ...]:
        return tuple(run_measures for _, run_measures in self.runs if run_measures is not None)

    @property
    def measured_run(self) -> Run:
        """One of its runs that have predictions, all of which are of the same images."""
        return next(run for run, run_measures in self.runs if run_measures is not None)


def build_comparison_table(groups: Sequence[RunGroup], baseline: str | None = None) -> ComparisonTable:
    """The groups beside each other; what cannot be read is said, and the rest is shown.

    Args:
      groups: from `run_groups.group_runs`, each once.
      baseline: as the `run_id` of `choose_baseline`.

    Raises:
      RunError: the baseline is in none of the groups.
    """
    base = choose_baseline(groups, baseline)
    base_key = base.group.key if base else None
    read = [_measure_group(group) for group in groups]
    differences = _compare_all_pairs(read, base_key)
    columns = tuple(_build_group_column(measured_group, base_key, read, differences) for measured_group in read)
    return ComparisonTable(
        columns=columns,
        settings=_build_setting_rows(groups),
        baseline=base_key,
        tests=2 * len(differences),
        warnings=tuple(
            dict.fromkeys(
                [
                    *_list_table_warnings(read),
                    *(warning for measured_group in read for warning in measured_group.warnings),
                ]
            )
        ),
        note=_describe_compared_epochs(columns),
        verdicts=_judge_groups(read, differences, base),
    )


def _compare_all_pairs(read: Sequence[_MeasuredGroup], base_key: str | None) -> dict[tuple[str, str], GroupDifference]:
    """The differences of all pairs of groups on the same images, adjusted; the baseline is the second of its pairs."""
    order = sorted(read, key=lambda measured_group: measured_group.group.key == base_key)
    pairs = {
        (first.group.key, second.group.key): compute_group_difference(first.measures, second.measures)
        for first, second in itertools.combinations(order, 2)
        if first.measures and second.measures and have_same_images(first.measured_run, second.measured_run)
    }
    return dict(zip(pairs, adjust_differences(list(pairs.values())), strict=True))


def _judge_groups(
    read: Sequence[_MeasuredGroup], differences: Mapping[tuple[str, str], GroupDifference], base: Baseline | None
) -> dict[str, SettingsVerdict]:
    """The verdicts on the groups with the test images of the baseline, or of the first group if it has none."""
    measured = [group for group in read if group.measures]
    if not measured:
        return {}
    first = next((group for group in measured if base and group.group.key == base.group.key), measured[0])
    comparable = [
        (group.group, [(run, measures) for run, measures in group.runs if measures is not None])
        for group in measured
        if group is first or have_same_images(group.measured_run, first.measured_run)
    ]
    keys = {group.key for group, _ in comparable}
    own = {pair: difference for pair, difference in differences.items() if keys.issuperset(pair)}
    judged = {metric: judge_run_groups(comparable, own, base, metric) for metric in VERDICT_METRICS}
    return {metric: verdict for metric, verdict in judged.items() if verdict is not None}


def _measure_group(group: RunGroup) -> _MeasuredGroup:
    measured_runs: list[tuple[Run, RunMeasures | None]] = []
    notes: list[str] = []
    for run in group.distinct_runs:
        try:
            run_measures = measure_run(run)
        except EnsembleError as error:
            why = str(error)
            # Most errors name their run themselves.
            notes.append(why if run.id in why else f"“{run.name}” has no figures here: {why}")
            measured_runs.append((run, None))
            continue
        measured_runs.append((run, run_measures))
        notes += _list_run_warnings(run, run_measures.epoch)
        if run_measures.better_without:
            member, without, nll = run_measures.better_without
            notes.append(
                f"“{run.name}” is better without member {member + 1}: NLL "
                f"{without:.3g} against {nll:.3g}. Inspect has the figures."
            )
    judged = [measures for _, measures in measured_runs if measures is not None]
    if len({measures.images for measures in judged}) > 1:
        first = Counter(measures.images for measures in judged).most_common(1)[0][0]
        measured_runs = [
            (run, measures if measures and measures.images == first else None) for run, measures in measured_runs
        ]
        notes.append(
            f"The runs of “{group.title}” were tested on different images: the figures "
            "are of those on the images that most of them have."
        )
    planned = {run.config.epochs for run, _ in measured_runs}
    if len({measures.epoch for measures in judged}) > len(planned) and {CHOSEN_LAST} == {
        measures.chosen for measures in judged
    }:
        notes.append(f"The runs of “{group.title}” have come to different epochs.")
    return _MeasuredGroup(group, tuple(measured_runs), tuple(notes))


def _list_run_warnings(run: Run, epoch: int) -> list[str]:
    """What to know of a run's figures after an epoch: epochs or members that are not in them."""
    notes = []
    if run.state in _INCOMPLETE_STATES:
        notes.append(f"“{run.name}” is {run.state} after epoch {run.status.epoch:,} of {run.config.epochs:,}.")
    if run.active:
        notes.append(f"“{run.name}” is {run.state}: its figures are those so far.")
    if len(run.remaining_members(epoch)) < run.config.members:
        who = describe_diverged_members(run.status, run.config.members, over=not run.active)
        notes.append(f"“{run.name}”: {who[:1].lower()}{who[1:]}")
    return notes


def _build_group_column(
    measured_group: _MeasuredGroup,
    base_key: str | None,
    read: Sequence[_MeasuredGroup],
    differences: Mapping[tuple[str, str], GroupDifference],
) -> GroupColumn:
    key, why = measured_group.group.key, ""
    difference = differences.get((key, base_key)) if base_key else None
    if base_key is None:
        why = "no baseline"
    elif key == base_key:
        why = "baseline"
    elif difference is None:
        both = all(group.measures for group in read if group.group.key in (key, base_key))
        why = "other images" if both else "no predictions"
    return GroupColumn(
        group=measured_group.group,
        run_ids=tuple(run_measures.run_id for run_measures in measured_group.measures),
        epochs=tuple(run_measures.epoch for run_measures in measured_group.measures),
        chosen=frozenset(run_measures.chosen for run_measures in measured_group.measures),
        metrics=compute_group_metrics(measured_group.runs),
        difference=difference,
        no_difference_reason=why,
    )


def _build_setting_rows(groups: Sequence[RunGroup]) -> tuple[_SettingRow, ...]:
    every = [[collect_run_settings(run) for run in group.runs] for group in groups]
    rows = []
    for name in SETTING_NAMES:
        values = tuple(tuple({repr(row[name]): row[name] for row in each if name in row}.values()) for each in every)
        texts = tuple(_format_setting_values(name, each) for each in values)
        rows.append(_SettingRow(name, humanize_setting_name(name), texts, values, len(set(map(repr, values))) > 1))
    return tuple(rows)


def _format_setting_values(name: str, values: Sequence[Value]) -> str:
    if not values:
        return "–"
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) == len(values):
        values = sorted(numbers)
    if len(values) > MAX_LISTED_VALUES:
        return f"{len(values):,} values"
    return ", ".join(format_setting_value(name, value) for value in values)


def _list_table_warnings(read: Sequence[_MeasuredGroup]) -> list[str]:
    """What holds for the whole table: that not all runs were tested on the same images."""
    judged = [group.measured_run for group in read if group.measures]
    if all(have_same_images(run, judged[0]) for run in judged[1:]):
        return []
    return [
        "Not all of these were tested on the same images: their figures stand beside each other, "
        "but differences are shown only to a baseline on the same ones."
    ]


def _describe_compared_epochs(columns: Sequence[GroupColumn]) -> str:
    chosen = frozenset[str]().union(*(column.chosen for column in columns))
    if chosen == {CHOSEN_ON_VALIDATION}:
        return "Each run is compared after the epoch with its lowest NLL on the validation images."
    if chosen == {CHOSEN_LAST}:
        return "Each run is compared after its last epoch: none was chosen on the test images."
    if not chosen:
        return ""
    return (
        "Runs with validation images are compared after the epoch with their lowest NLL on them, "
        "the others after their last epoch: none was chosen on the test images."
    )
