"""Settings that differ from member to member: "learning_rate=0.01..1:log momentum=0.8,0.9".

A range gives every member its own value, from the first to the last, evenly or (`:log`) by the
same factor; a list gives each value to as many members as the others, the first members first.
"""

import re
from collections.abc import Mapping

import numpy as np

from ensemble.errors import ConfigError

VARIABLE_SETTINGS = ("learning_rate", "momentum", "weight_decay")
VARY_FORM = (
    r"([a-z_]+=[0-9eE+.,:a-z-]+( [a-z_]+=[0-9eE+.,:a-z-]+)*)?",
    'settings and their values such as "learning_rate=0.01..1:log momentum=0.8,0.9"',
)
_RANGE = re.compile(r"(.+?)\.\.(.+?)(:log)?")


def parse_member_values(text: str, members: int) -> dict[str, tuple[float, ...]]:
    """The values of each setting that differs, one a member (M,), each at least once where it can.

    Args:
      text: as above; "" for none.
      members: M.

    Raises:
      ConfigError: it cannot be read; the message says how it is written.
    """
    values_by_setting: dict[str, tuple[float, ...]] = {}
    for part in text.split():
        name, _, values_text = part.partition("=")
        if name not in VARIABLE_SETTINGS:
            raise ConfigError(
                f"vary names {name!r:.40}: the settings that can differ between members are "
                f"{', '.join(VARIABLE_SETTINGS)}."
            )
        if name in values_by_setting:
            raise ConfigError(f"vary names {name} twice: once is enough.")
        values_by_setting[name] = _expand_member_values(name, values_text, members)
    return values_by_setting


def format_member_values(settings: Mapping[str, tuple[float, ...]]) -> str:
    """The text that gives each member its own of these values, (M,) a setting: lists."""
    return " ".join(f"{name}={','.join(repr(float(value)) for value in each)}" for name, each in settings.items())


def _expand_member_values(name: str, values_text: str, members: int) -> tuple[float, ...]:
    how = f"write {name}=0.01..1 or {name}=0.01..1:log for a range, {name}=0.1,0.3 for a list"
    try:
        if not (match := _RANGE.fullmatch(values_text)):
            value_list = [float(item) for item in values_text.split(",")]
            if len(value_list) > members:
                raise ConfigError(
                    f"vary gives {len(value_list)} values of {name} for {members} members: choose "
                    f"at most {members} values, or more members."
                )
            return tuple(value_list[number * len(value_list) // members] for number in range(members))
        low, high = float(match[1]), float(match[2])
    except ValueError as error:
        raise ConfigError(f"vary says {name}={values_text:.60}: {how}.") from error
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ConfigError(f"vary says {name}={values_text:.60}: the start of a range has to be below its end.")
    if not match[3]:
        return tuple(np.linspace(low, high, members).tolist())
    if low <= 0:
        raise ConfigError(f"vary says {name}={values_text:.60}: a range with :log has to start above 0.")
    return tuple(np.geomspace(low, high, members).tolist())
