"""The group of runs that the others are compared with, and why it is that one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.comparison.run_groups import RunGroup
from ensemble.errors import RunError
from ensemble.runs import list_prediction_epochs
from ensemble.runs.annotations.baseline import read_baselines

NO_BASELINE = "none"


@dataclass(frozen=True)
class Baseline:
    """The group that the others are compared with.

    Attributes:
      group: its runs.
      reason: "chosen" (asked for), "pinned" (on Runs), "default settings" or "first".
    """

    group: RunGroup
    reason: str


def choose_baseline(groups: Sequence[RunGroup], run_id: str | None = None) -> Baseline | None:
    """Choose the group of the run that is asked for, else the pinned one, the default settings, or the first.

    The rule leaves out groups without predictions, but does not look at results.

    Args:
      groups: from `run_groups.group_runs`.
      run_id: a run of the group to choose; None to choose by the rule; `NO_BASELINE` for none.

    Returns:
      None if there is no group, or for `NO_BASELINE`.

    Raises:
      RunError: the run that is asked for is in none of the groups.
    """
    if run_id == NO_BASELINE or not groups:
        return None
    if run_id is not None:
        for group in groups:
            if any(run.id == run_id for run in group.runs):
                return Baseline(group, "chosen")
        raise RunError(f"The baseline {run_id!r:.70} is none of the runs compared: choose one of them.")
    pinned = set(read_baselines().values())
    able = [group for group in groups if any(list_prediction_epochs(run.id) for run in group.runs)] or groups
    for group in able:
        if pinned & {run.id for run in group.runs}:
            return Baseline(group, "pinned")
    for group in able:
        if _has_default_settings(group):
            return Baseline(group, "default settings")
    return Baseline(able[0], "first")


def _has_default_settings(group: RunGroup) -> bool:
    """Whether the settings that distinguish a group from the others all have their default values."""
    settings = group.runs[0].settings
    defaults = type(settings)().as_dict() if settings else {}
    return bool(group.values) and all(defaults.get(name) == value for name, value in group.values.items())
