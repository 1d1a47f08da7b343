"""The groups of a run: which members each has, and where it keeps them."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from ensemble.config import AnyTrainingConfig
from ensemble.errors import RunError, UnknownRunError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.kinds import GROUP, JobKind
from ensemble.jobs.status import write_status
from ensemble.runs.status import Status
from ensemble.runs.store import GROUPS_FOLDER, Run, find_run, require_run_settings
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import Count, parse_dataclass

_GROUP_FILE = "group.json"
_GROUP_ID_PATTERN = re.compile(r"(.+):([1-9][0-9]{0,2})")


@dataclass(frozen=True)
class GroupStatus(Status):
    """How a group stands: as a run of its members alone would."""

    kind: ClassVar[JobKind] = GROUP


@dataclass(frozen=True)
class Group(Run):
    """A group of a run's members, as it stood when it was read. Its `id` is `RUN:2`.

    Attributes:
      number: from 1.
      group_count: how many groups the run has.
      first_member, member_count: its members: so many, from this number on, counted from 0.
    """

    number: int = 1
    group_count: int = 1
    first_member: int = 0
    member_count: int = 1
    kind: JobKind = GROUP

    @property
    def member_numbers(self) -> range:
        """Its members by number, from 0."""
        return range(self.first_member, self.first_member + self.member_count)

    @property
    def has_all_members(self) -> bool:
        """Whether these are all members of the ensemble: a group is taken for a part of it."""
        return False

    @property
    def has_died(self) -> bool:
        """Whether its task ended without saying so; one that has not begun did not."""
        return self.status.pid is not None and super().has_died

    @property
    def title(self) -> str:
        """What people call it: "Group 2 of 4 (members 3–4)"."""
        last = self.first_member + self.member_count
        which = f"members {self.first_member + 1}–{last}" if self.member_count > 1 else f"member {last}"
        return f"Group {self.number} of {self.group_count} ({which})"


@dataclass(frozen=True)
class _GroupOwner:
    """What a group.json says: whose group it is."""

    run: str
    group: Count
    of: Count
    first: Count
    count: Count


def split_members(members: int, groups: int) -> list[range]:
    """The members of each group by number, from 0: as even as can be, the larger ones first."""
    fewer, more = divmod(members, groups)
    sizes = [fewer + (number < more) for number in range(groups)]
    starts = [sum(sizes[:number]) for number in range(groups)]
    return [range(start, start + size) for start, size in zip(starts, sizes, strict=True)]


def list_run_groups(run: Run) -> list[Group]:
    """The groups of a run in order, those that have no folder yet as well; none of one without.

    Raises:
      RunError: a group's status cannot be read.
    """
    if not run.in_groups:
        return []
    shares = split_members(run.config.members, require_run_settings(run).groups)
    # When to stop is told by all members together, and so by the run's worker.
    config = replace(require_run_settings(run), patience=0)  # checked once, not for every group
    return [_build_group(run, config, number, len(shares), share) for number, share in enumerate(shares, 1)]


def find_group(name: str) -> Group:
    """The group that `RUN:2` names.

    Raises:
      UnknownRunError: there is no such run, or it has no such group.
      RunError: its files cannot be read, or belong to another run.
    """
    if not (match := _GROUP_ID_PATTERN.fullmatch(name)):
        raise UnknownRunError(f"“{name[:60]}” is not a group of a run: write RUN:1 for its first group.")
    every = list_run_groups(run := find_run(match[1]))
    if int(match[2]) > len(every):
        raise UnknownRunError(f"The run “{run.id}” has {len(every)} groups, but no group {match[2]}.")
    group = every[int(match[2]) - 1]
    check_group_folders(run, [group])
    return group


def create_group_folders(run: Run) -> list[Group]:
    """The groups of a run, with folders for those that have none.

    Raises:
      RunError: a folder cannot be written, or belongs to another run.
    """
    every = list_run_groups(run)
    for group in every:
        if (group.path / _GROUP_FILE).exists():
            continue
        with change_job_files(run.path):
            group.path.mkdir(parents=True, exist_ok=True)
            if not (group.path / "status.json").exists():
                write_status(group.path, group.status)
            owner = _GroupOwner(
                _compute_run_fingerprint(run), group.number, group.group_count, group.first_member, group.member_count
            )
            write_json(group.path / _GROUP_FILE, vars(owner))
    check_group_folders(run, every)
    return every


def check_group_folders(run: Run, groups: Sequence[Group]) -> None:
    """See that the folders of groups are there, and are this run's.

    Raises:
      RunError: one is missing, or is another run's; it is named.
    """
    for group in groups:
        place = f"{GROUPS_FOLDER}/{group.path.name}"
        try:
            owner = parse_dataclass(_GroupOwner, read_json(group.path / _GROUP_FILE))
        except FileNotFoundError as error:
            raise RunError(
                f"{group.title} of the run “{run.id}” is missing: put the folder {place} back, "
                "or resume the run, which then trains that group again."
            ) from error
        except (OSError, ValueError) as error:
            raise RunError(
                f"{group.title} of the run “{run.id}” cannot be identified ({error}): put {place}/{_GROUP_FILE} back, "
                "or delete the folder and resume the run, which trains that group again."
            ) from error
        if owner != _GroupOwner(
            _compute_run_fingerprint(run), group.number, group.group_count, group.first_member, group.member_count
        ):
            raise RunError(
                f"{group.title} of the run “{run.id}” belongs to another run or to other "
                f"settings: put its own folder {place} back, or delete that folder and resume "
                "the run, which trains the group again."
            )


def _compute_run_fingerprint(run: Run) -> str:
    """A word that differs where the run does: of its config.json, which is written once."""
    return hashlib.sha256((run.path / "config.json").read_bytes()).hexdigest()[:32]


def _locate_groups_folder(folder: Path) -> Path:
    """Where the groups of the run in `folder` lie."""
    return folder / GROUPS_FOLDER


def _build_group(run: Run, config: AnyTrainingConfig, number: int, group_count: int, share: range) -> Group:
    folder = _locate_groups_folder(run.path) / str(number)
    values: dict[str, Any] = {field.name: getattr(run, field.name) for field in fields(Run)}
    values |= {"id": f"{run.id}:{number}", "path": folder, "config": config, "kind": GROUP}
    values["status"] = _read_group_status(run, folder)
    return Group(**values, number=number, group_count=group_count, first_member=share.start, member_count=len(share))


def _read_group_status(run: Run, folder: Path) -> GroupStatus:
    try:
        return GroupStatus.from_dict(read_json(folder / "status.json"))
    except FileNotFoundError:
        created = run.status.created
        return GroupStatus(created=created, queued=created, updated=created, epochs=run.config.epochs)
    except (OSError, ValueError) as error:
        raise RunError(
            f"{folder.parent.name}/{folder.name}/status.json of the run “{run.id}” cannot be "
            f"read ({error}): put it back, or delete that folder and resume the run."
        ) from error
