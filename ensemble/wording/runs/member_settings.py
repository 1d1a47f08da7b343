"""Settings that differ from member to member, in words."""

from collections.abc import Mapping, Sequence

from ensemble.config import AnyConfig, AnyTrainingConfig, ImportedConfig, member_values
from ensemble.errors import ConfigError
from ensemble.runs.store import Run
from ensemble.wording import formats

SETTING_TITLES = {"learning_rate": "learning rate", "momentum": "momentum", "weight_decay": "weight decay"}
SETTING_SHORT_NAMES = {"learning_rate": "rate", "momentum": "momentum", "weight_decay": "decay"}
_MAX_PLAIN_LETTERS = 6  # letters of a value that is said as it stands
MAX_LISTED_VALUES = 7  # members whose values a line names; of more the first ones and the last
_LEADING_VALUES = 3


def collect_varied_settings(config: AnyConfig) -> dict[str, tuple[float, ...]]:
    """What differs from member to member in a run: its values (M,) by setting; {} for nothing."""
    return {} if isinstance(config, ImportedConfig) else parse_varied_settings(config.vary, config.members)


def parse_varied_settings(text: str, members: int) -> dict[str, tuple[float, ...]]:
    """The values (M,) by setting that a text of `vary` says; {} for one that says nothing yet."""
    try:
        return member_values.parse_member_values(text, members)
    except ConfigError:
        return {}


def select_main_setting(values_by_setting: Mapping[str, Sequence[float]]) -> str:
    """The setting that members are told apart by where several differ: the rate, if it is one."""
    several = [name for name in member_values.VARIABLE_SETTINGS if len(set(values_by_setting.get(name, ()))) > 1]
    return several[0] if several else ""


def is_log_scaled(values: Sequence[float]) -> bool:
    """Whether values are drawn on a log axis: all above 0, and over more than a factor of 5."""
    return min(values) > 0 and max(values) > 5 * min(values)


def format_distinct_values(values: Sequence[float]) -> list[str]:
    """Each value, as briefly as they can still be told apart: "0.01", "0.032"."""
    for figures in range(2, 9):
        brief_values = [_format_brief_value(value, figures) for value in values]
        if len(set(brief_values)) == len(set(values)):
            break
    return brief_values


def format_value_range(values: Sequence[float]) -> str:
    """All values at once: "0.01 to 1", "0.8 and 0.9", or the only one."""
    value_texts = dict(zip(values, format_distinct_values(values), strict=True))
    if len(value_texts) == 1:
        return formats.format_plain_number(values[0])
    ends = [value_texts[min(values)], value_texts[max(values)]]
    return (" and " if len(value_texts) == 2 else " to ").join(ends)


def format_run_setting(config: AnyTrainingConfig, name: str) -> str:
    """A setting's value in a run, or all that its members have: "0.1", "0.01 to 1"."""
    values = collect_varied_settings(config).get(name)
    return format_value_range(values) if values else formats.format_plain_number(getattr(config, name))


def describe_member_values(values_by_setting: Mapping[str, Sequence[float]]) -> str:
    """What each member gets: "Members 1 to 8 get learning rate 0.01, 0.019, 0.037, … 1."."""
    if not values_by_setting:
        return ""
    members = len(next(iter(values_by_setting.values())))
    who = f"Members 1 to {members} get" if members > 1 else "The one member gets"
    what = [f"{SETTING_TITLES[name]} {_format_value_list(values)}" for name, values in values_by_setting.items()]
    return f"{who} {'; '.join(what)}."


def _format_value_list(values: Sequence[float]) -> str:
    distinct_values = format_distinct_values(values)
    if len(distinct_values) <= MAX_LISTED_VALUES:
        return ", ".join(distinct_values)
    return f"{', '.join(distinct_values[:_LEADING_VALUES])}, … {distinct_values[-1]}"


def list_member_names(values_by_setting: Mapping[str, Sequence[float]], members: int) -> list[str]:
    """What members are called: "member 3 · rate 0.1"; "member 3" where nothing differs."""
    value_texts = {
        SETTING_SHORT_NAMES[name]: format_distinct_values(values) for name, values in values_by_setting.items()
    }
    return [
        " · ".join([f"member {m + 1}", *(f"{name} {value_texts[name][m]}" for name in value_texts)])
        for m in range(members)
    ]


def list_run_member_names(run: Run, epoch: int | None = None) -> tuple[str, ...]:
    """What a run's members are called: by the names that they came with, else by number.

    After an epoch, where one is given, without those diverged by then; with the values of
    settings that differ from member to member.
    """
    names = run.member_names or list_member_names(collect_varied_settings(run.config), run.config.members)
    return tuple(names) if epoch is None else tuple(names[m] for m in run.remaining_members(epoch))


def describe_member_numbering(run: Run) -> str:
    """How members are counted where some were set aside; "" where none was.

    For screens on one epoch's predictions, which hold the others alone.
    """
    aside, left = sorted(run.status.set_aside), run.remaining_members()
    if not aside or not left:
        return ""
    who = f"Member {aside[0] + 1} was" if len(aside) == 1 else f"Members {_format_member_numbers(aside)} were"
    moved = [place for place, m in enumerate(left) if place != m]
    if not moved:
        return f"{who} set aside: later epochs are without {'it' if len(aside) == 1 else 'them'}."
    here = [left[place] for place in moved]
    if len(moved) == 1:
        example = f"member {moved[0] + 1} here is the run's {here[0] + 1}"
        return f"{who} set aside: of later epochs {example}."
    return (
        f"{who} set aside: of later epochs members {_format_member_numbers(moved)} here are the "
        f"run's {_format_member_numbers(here)}."
    )


def _format_member_numbers(members: Sequence[int]) -> str:
    """Format ascending member indices, counted from 0, as numbers from 1: "3", "3 and 5", "3 to 7"."""
    texts = [f"{m + 1}" for m in members]
    if len(texts) > 2 and members[-1] - members[0] == len(members) - 1:
        return f"{texts[0]} to {texts[-1]}"
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def _format_brief_value(value: float, figures: int) -> str:
    exact = formats.format_plain_number(value)
    return exact if len(exact) <= _MAX_PLAIN_LETTERS else formats.format_plain_number(float(f"{value:.{figures}g}"))
