"""Settings: dataclass fields that know their default, their range and their line of help.

What belongs to a place and not to a run stands in `ensemble.toml` in the working folder.
"""

import dataclasses
import functools
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from ensemble.errors import ConfigError

Choices = tuple[str, ...]
_MAX_LISTED_CHOICES = 12  # choices in a refusal
SETTINGS_FILE_NAME = "ensemble.toml"


Documented = TypeVar("Documented", bound="Settings")


class StoredChoice(str):
    """A choice as it was kept with what was made by it: there then, and perhaps no longer.

    So that a run still opens when its dataset has been removed; whoever needs the dataset asks
    for it, and is told.
    """


def declare_setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Choices | Callable[[], Choices] | None = None,
    form: tuple[str, str] | None = None,
    several: bool = False,
) -> Any:
    """A dataclass field that knows its range.

    Args:
      default: its value where none is given.
      help: one line of it.
      low: the least number allowed.
      high: the largest.
      choices: the words it may be, or a function that says which there are just now.
      form: of a text that is no choice the regular expression that all of it matches, and the
        same in words.
      several: whether such a text is parts with a space between, that may be given one by one.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": choices, "form": form}
    return dataclasses.field(default=default, metadata={**metadata, "several": several})


def read_settings_file() -> dict[str, Any]:
    """What `ensemble.toml` in the working folder says; {} if there is none.

    Raises:
      ConfigError: there is such a file, and it cannot be read.
    """
    try:
        return tomllib.loads(Path(SETTINGS_FILE_NAME).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{SETTINGS_FILE_NAME} cannot be read ({error}): correct it, or remove it.") from error


@dataclass(frozen=True)
class Settings:
    """What settings have in common: fields that know their range, and a form for JSON."""

    def check(self) -> None:
        """Bring every field to its type; ConfigError where one is out of its range."""
        for field in list_setting_fields(type(self)):
            object.__setattr__(self, field.name, coerce_setting_value(field, getattr(self, field.name)))

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Settings from `as_dict`'s form; a name that is not a setting is a ConfigError."""
        names = {field.name for field in list_setting_fields(cls)}
        if unknown := sorted(set(values) - names):
            listing = ", ".join(unknown)
            raise ConfigError(f"No such setting: {listing:.200}. There are: {', '.join(sorted(names))}.")
        return cls(**values)

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> Self:
        """As `from_dict`, of settings kept with a run: what could be chosen then may be gone."""
        changing = {
            setting_field.name
            for setting_field in list_setting_fields(cls)
            if callable(get_declared_choices(setting_field))
        }
        kept = {
            name: StoredChoice(value) if name in changing and isinstance(value, str) else value
            for name, value in values.items()
        }
        return cls.from_dict(kept)


def document_settings(settings: type[Documented]) -> type[Documented]:
    """Add to a class's docstring every setting with its range, its default and its line of help.

    Choices that differ from one machine to the next are not listed: they are asked for when needed.
    """
    lines = ["", "    Settings:"]
    for field in list_setting_fields(settings):
        lately = callable(get_declared_choices(field))
        allowed = "a name, by default" if lately else f"{describe_allowed_values(field)}, by default"
        lines.append(f"      {field.name}: {field.metadata['help']} ({allowed} {field.default!r})")
    settings.__doc__ = f"{(settings.__doc__ or '').rstrip()}\n" + "\n".join(lines) + "\n    "
    return settings


def list_setting_fields(settings: type[Settings]) -> "tuple[dataclasses.Field[Any], ...]":
    """The fields that were made by `declare_setting`: another is its class's own affair."""
    anyway: Any = settings  # A class can be a key, whatever its objects can.
    return _find_setting_fields(anyway)


@functools.cache  # Asked for with every run that is read.
def _find_setting_fields(settings: Any) -> "tuple[dataclasses.Field[Any], ...]":
    return tuple(field for field in dataclasses.fields(settings) if "help" in field.metadata)


def coerce_setting_value(field: "dataclasses.Field[Any]", value: Any) -> Any:
    """`value` as the type of `field`, or a ConfigError that names the allowed range."""
    kind: Any = type(field.default)
    if get_declared_choices(field):
        if not isinstance(value, StoredChoice) and value not in list_setting_choices(field):
            raise _build_range_error(field, f"{value!r:.60}")
        return value
    if form := field.metadata["form"]:
        if not isinstance(value, str) or not re.fullmatch(form[0], value):
            raise _build_range_error(field, f"{value!r:.60}")
        return value
    if kind is bool:
        if not isinstance(value, bool):
            raise _build_range_error(field, f"{value!r:.60}")
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value != value or (kind is int and value % 1):
        raise _build_range_error(field, f"{value!r:.60}")
    if not field.metadata["low"] <= value <= field.metadata["high"]:
        text = f"{value:g}" if abs(value) < sys.float_info.max else "too large"
        raise _build_range_error(field, text)
    return kind(value)


def _build_range_error(field: "dataclasses.Field[Any]", text: str) -> ConfigError:
    """That a value, as `text` has it, is none of the field; what is allowed is listed just now."""
    return ConfigError(f"{field.name} is {text}: it has to be {describe_allowed_values(field)}.")


def get_declared_choices(field: "dataclasses.Field[Any]") -> Choices | Callable[[], Choices] | None:
    """What a field's choices were given as; None if it has none."""
    choices: Choices | Callable[[], Choices] | None = field.metadata["choices"]
    return choices


def list_setting_choices(field: "dataclasses.Field[Any]") -> Choices:
    """The words that a field may be, just now; () where it is no choice."""
    listed = get_declared_choices(field)
    return listed() if callable(listed) else listed or ()


def describe_allowed_values(field: "dataclasses.Field[Any]") -> str:
    """The allowed values in words: "a whole number from 1 to 64"."""
    if choices := list_setting_choices(field):
        more = f" and {len(choices) - _MAX_LISTED_CHOICES:,} more" if len(choices) > _MAX_LISTED_CHOICES else ""
        return "one of " + ", ".join(choices[:_MAX_LISTED_CHOICES]) + more
    if field.metadata["form"]:
        return str(field.metadata["form"][1])
    if isinstance(field.default, bool):
        return "true or false"
    noun = "a whole number" if isinstance(field.default, int) else "a number"
    low, high = field.metadata["low"], field.metadata["high"]
    return f"{noun} from {low:,} to {high:,}"
