"""The search space in words: "learning_rate=0.01..0.5:log momentum=0.8,0.9 members=2..8".

A range gives every number between its ends, both included, evenly or (`:log`) by the same factor;
of a whole-number setting it gives whole numbers. A list gives the values that it names.
"""

import itertools
import re
from dataclasses import Field, dataclass
from typing import Any

from ensemble.config import AnyTrainingConfig, EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.settings import coerce_setting_value, list_setting_choices, list_setting_fields

SPACE_FORM = (
    r"[a-z_]+=[^\s=]+( [a-z_]+=[^\s=]+)*",
    'settings and their values such as "learning_rate=0.01..0.5:log momentum=0.8,0.9"',
)
_MAX_GRID_SIZE = 10_000
# Trials are compared by what they make of the same images: these change the images, or are no
# numbers and no choices.
UNSEARCHABLE_SETTINGS = ("dataset", "validation", "folds", "vary", "teacher", "test", "split_seed")
_BOOLEAN_WORDS = {"true": True, "false": False}
_RANGE = re.compile(r"(.+?)\.\.(.+?)(:log)?")

Value = float | int | str | bool


@dataclass(frozen=True)
class ValueRange:
    """All numbers from `low` to `high`, both included.

    Attributes:
      log: whether drawn by the same factor, not evenly.
      whole: whether whole numbers alone.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False


@dataclass(frozen=True)
class ValueList:
    """The values that were named, each once, in that order."""

    values: tuple[Value, ...]


Axis = ValueRange | ValueList


def parse_search_space(text: str, form: type[AnyTrainingConfig] = EnsembleConfig) -> dict[str, Axis]:
    """The axes of a search space by their setting's name, in the order in which they stand.

    Args:
      text: as above.
      form: of the settings that trials have.

    Raises:
      ConfigError: it cannot be read, or a value is out of its setting's range; the message says
        how it is written.
    """
    fields = {setting_field.name: setting_field for setting_field in list_setting_fields(form)}
    axes: dict[str, Axis] = {}
    for part in text.split():
        name, _, values_text = part.partition("=")
        if name not in fields or name in UNSEARCHABLE_SETTINGS:
            names = ", ".join(sorted(set(fields) - set(UNSEARCHABLE_SETTINGS)))
            raise ConfigError(f"space names {name!r:.40}: what can be searched is one of {names}.")
        if name in axes:
            raise ConfigError(f"space names {name} twice: once is enough.")
        axes[name] = _parse_axis(fields[name], values_text)
    return axes


def format_search_space(axes: dict[str, Axis]) -> str:
    """The text of these axes: the inverse of `parse_search_space`."""
    return " ".join(f"{name}={_format_axis(axis)}" for name, axis in axes.items())


def build_grid(axes: dict[str, Axis]) -> list[dict[str, Value]]:
    """Every combination of the values, the last axis running fastest.

    Raises:
      ConfigError: a range has no end of values, or there are too many combinations.
    """
    lists = {name: _list_grid_values(name, axis) for name, axis in axes.items()}
    count = 1
    for values in lists.values():
        count *= len(values)
    if count > _MAX_GRID_SIZE:
        raise ConfigError(
            f"The grid has {count:,} combinations, more than {_MAX_GRID_SIZE:,}: name fewer values, "
            "or choose the sampler random."
        )
    return [dict(zip(lists, combination, strict=True)) for combination in itertools.product(*lists.values())]


def _list_grid_values(name: str, axis: Axis) -> tuple[Value, ...]:
    if isinstance(axis, ValueList):
        return axis.values
    if not axis.whole:
        raise ConfigError(
            f"A grid needs a list of values: write {name}=0.1,0.3 instead of a range, or choose the sampler random."
        )
    if axis.high - axis.low >= _MAX_GRID_SIZE:
        raise ConfigError(
            f"The grid has more than {_MAX_GRID_SIZE:,} values of {name}: name fewer, or choose the sampler random."
        )
    return tuple(range(int(axis.low), int(axis.high) + 1))


def _parse_axis(field: "Field[Any]", text: str) -> Axis:
    is_number = isinstance(field.default, int | float) and not isinstance(field.default, bool)
    if is_number and (ends := _RANGE.fullmatch(text)):
        return _parse_range(field, text, ends[1], ends[2], bool(ends[3]))
    values = [_parse_axis_value(field, part, text) for part in text.split(",")]
    return ValueList(tuple(dict.fromkeys(values)))


def _parse_range(field: "Field[Any]", text: str, first: str, last: str, log: bool) -> ValueRange:
    whole = isinstance(field.default, int)
    low, high = (_parse_axis_value(field, bound, text) for bound in (first, last))
    if not (isinstance(low, int | float) and isinstance(high, int | float) and low < high):
        raise ConfigError(f"space says {field.name}={text:.60}: the start of a range has to be below its end.")
    if log and low <= 0:
        raise ConfigError(f"space says {field.name}={text:.60}: a range with :log has to start above 0.")
    return ValueRange(low, high, log, whole)


def _parse_axis_value(field: "Field[Any]", word: str, text: str) -> Value:
    if isinstance(field.default, bool):
        raw_value: Any = _BOOLEAN_WORDS.get(word, word)
    elif isinstance(field.default, str):
        raw_value = word
    else:
        raw_value = _parse_axis_number(field, word, text)
    # A network of a person's own is asked for where a trial's settings are made.
    own = isinstance(field.default, str) and ":" in word and word not in list_setting_choices(field)
    value: Value = raw_value if own else coerce_setting_value(field, raw_value)
    return value


def _parse_axis_number(field: "Field[Any]", word: str, text: str) -> float | int:
    try:
        number = float(word)
    except ValueError as error:
        name = field.name
        raise ConfigError(
            f"space says {name}={text:.60}: write {name}=1..8 or {name}=1..8:log for a range, "
            f"{name}=1,4 for a list, with numbers of your own."
        ) from error
    return int(number) if isinstance(field.default, int) and number % 1 == 0 else number


def _format_axis(axis: Axis) -> str:
    if isinstance(axis, ValueRange):
        return f"{_format_axis_value(axis.low)}..{_format_axis_value(axis.high)}" + ":log" * axis.log
    return ",".join(map(_format_axis_value, axis.values))


def _format_axis_value(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
