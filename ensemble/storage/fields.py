"""JSON that is read as a dataclass or a TypedDict: every field is what its annotation says.

A file may have been written by anybody, cut short or damaged. What is read here need not be asked
again by whoever uses it: numbers are finite and in their range, true is no number, and a text can
be shown.
"""

import dataclasses
import functools
import reprlib
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Read = TypeVar("Read")
WHOLE = 2**63  # larger ones nobody writes


@dataclass(frozen=True)
class Within:
    """The range of a number, or of each in a list: both ends belong to it."""

    low: float
    high: float


Count = Annotated[int, Within(0, 2**53)]
Pid = Annotated[int, Within(1, 2**31 - 1)]
Time = Annotated[float, Within(0, 1e11)]  # unix seconds up to the year 5138: calendars go so far
Seconds = Annotated[float, Within(0, 1e11)]
Speed = Annotated[float, Within(0, 1e15)]  # of anything by the second
Share = Annotated[float, Within(0, 1)]
Figure = Annotated[float, Within(-3.5e38, 3.5e38)]  # what float32 holds: means do not overflow


def read_as(cls: type[Read], values: Any) -> Read:
    """A dataclass from the object of a JSON file; names that this version does not know are left.

    Raises:
      ValueError: a field is missing that has no default, or is not what its annotation says.
    """
    if not isinstance(values, dict):
        raise ValueError("there is no object")
    annotations = hints(cls)
    names = [one.name for one in dataclasses.fields(cls) if one.name in values]  # type: ignore[arg-type]
    try:
        return cls(**{name: checked(annotations[name], values[name], name) for name in names})
    except TypeError as error:
        raise ValueError(str(error)) from error


def checked(kind: Any, value: Any, name: str) -> Any:
    """`value`, which came from JSON, as the annotation `kind` wants it.

    Args:
      kind: of float, int, str, bool, None, Any, list, dict, Literal, Annotated with `Within`, a
        TypedDict, or a union of them. JSON's names are text: of a dict[int, …] they become numbers.
      value: what was read.
      name: of the field, for the sentence.

    Raises:
      ValueError: it is something else; the name and the value are in the message.
    """
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin is Annotated:
        base, *marks = get_args(kind)
        if any(not inside(value, mark) for mark in marks if isinstance(mark, Within)):
            raise odd(name, value)
        return checked(base, value, name)
    if origin is NotRequired:
        return checked(get_args(kind)[0], value, name)
    if origin in (Union, types.UnionType):
        return first_of(get_args(kind), value, name)
    if is_typeddict(kind):
        return as_typed(kind, value, name)
    if check := CHECKS.get(origin or kind):
        return check(get_args(kind), value, name)
    raise TypeError(f"{name}: there is no reader for {kind}")


def inside(value: Any, bounds: Within) -> bool:
    """Whether a number is in a range; True for what is no number, which others see to."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return True
    return bounds.low <= value <= bounds.high


def first_of(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    """What the first that fits makes of it."""
    for kind in kinds:
        try:
            return checked(kind, value, name)
        except ValueError:
            continue
    raise odd(name, value)


def as_typed(kind: Any, value: Any, name: str) -> dict[str, Any]:
    """An object with the fields that a TypedDict names, and no others."""
    if not isinstance(value, dict):
        raise odd(name, value)
    if missing := sorted(kind.__required_keys__ - set(value)):
        raise ValueError(f"{missing[0]} is missing")
    return {
        field: checked(wanted, value[field], field)
        for field, wanted in hints(kind).items()
        if field in value
    }


def _number(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    # Compared, not converted: an integer may be larger than any float.
    most = sys.float_info.max
    if type(value) not in (int, float) or not -most <= value <= most:
        raise odd(name, value)
    return value


def _whole(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if type(value) is not int or not -WHOLE < value < WHOLE:
        raise odd(name, value)
    return value


def _text(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if type(value) is not str:
        raise odd(name, value)
    try:
        value.encode()
    except UnicodeEncodeError as error:  # half a character, which no page can show
        raise odd(name, value) from error
    return value


def _exactly(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if not any(type(value) is type(one) and value == one for one in kinds):
        raise odd(name, value)
    return value


def _plain(kind: type) -> Callable[[tuple[Any, ...], Any, str], Any]:
    def check(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
        if type(value) is not kind:
            raise odd(name, value)
        return value

    return check


def _list(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if type(value) is not list:
        raise odd(name, value)
    (kind,) = kinds or (Any,)
    if not all_numbers(kind, value):
        return [checked(kind, one, name) for one in value]
    return value


def _dict(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    if type(value) is not dict:
        raise odd(name, value)
    key, kind = kinds or (str, Any)
    return {_key(key, one, name): checked(kind, found, name) for one, found in value.items()}


def _key(kind: Any, text: str, name: str) -> Any:
    if kind is not int:
        return checked(kind, text, name)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise odd(name, text)
    return int(text)


CHECKS: dict[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    float: _number, int: _whole, str: _text, bool: _plain(bool), types.NoneType: _plain(type(None)),
    Literal: _exactly, list: _list, dict: _dict,
}  # fmt: skip


def all_numbers(kind: Any, values: list[Any]) -> bool:
    """Whether these are finite numbers (and None, where that may be), seen without asking each.

    A history of a large ensemble has millions. False where it takes a closer look.
    """
    either = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    (wanted, *others) = [one for one in either if one is not types.NoneType]
    if others or get_origin(wanted) is not Annotated or get_args(wanted)[0] is not float:
        return False
    found = set(map(type, values))
    if not found <= {float, int, types.NoneType} or (None.__class__ in found and len(either) < 2):
        return False
    numbers = [one for one in values if one is not None]
    bounds: Within = get_args(wanted)[1]
    # NaN is not refused here: JSON is read without it.
    return not numbers or (bounds.low <= min(numbers) and max(numbers) <= bounds.high)


def hints(cls: Any) -> dict[str, Any]:
    """The annotations of a class, with what is annotated to them."""
    return _hints(cls)


@functools.cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def odd(name: str, value: Any) -> ValueError:
    """A field is not what it should be: the words for it."""
    try:
        shown = reprlib.repr(value)
    except ValueError:  # An integer of thousands of digits is not even shown.
        shown = "a number of thousands of digits"
    return ValueError(f"{name} is {shown}")
