"""JSON that is read as a dataclass or a TypedDict: every field is what its annotation says.

A file may have been written by anybody, cut short or damaged. What is read here need not be checked
again: numbers are finite and in their range, true is not a number, and a text can be shown.
"""

import contextlib
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

Parsed = TypeVar("Parsed")
_ValueChecker = Callable[[Any, str], Any]  # of a value and its field's name
_INTEGER_LIMIT = 2**63  # larger ones nobody writes
_JSON_TYPES: dict[Any, set[type]] = {float: {float, int}, int: {int}, str: {str}, bool: {bool}}


@dataclass(frozen=True)
class NumberRange:
    """The range of a number, or of each in a list: both ends belong to it."""

    low: float
    high: float


_FINITE = NumberRange(-sys.float_info.max, sys.float_info.max)
Count = Annotated[int, NumberRange(0, 2**53)]
Pid = Annotated[int, NumberRange(1, 2**31 - 1)]
Time = Annotated[float, NumberRange(0, 1e11)]  # unix seconds up to the year 5138: calendars go so far
Seconds = Annotated[float, NumberRange(0, 1e11)]
Speed = Annotated[float, NumberRange(0, 1e15)]  # of anything by the second
Share = Annotated[float, NumberRange(0, 1)]
MetricValue = Annotated[float, NumberRange(-3.5e38, 3.5e38)]  # what float32 holds: means do not overflow


def parse_dataclass(cls: type[Parsed], values: Any) -> Parsed:
    """A dataclass from the object of a JSON file; names that this version does not know are left.

    Raises:
      ValueError: a field is missing that has no default, or is not what its annotation says.
    """
    if not isinstance(values, dict):
        raise ValueError("it is not a JSON object")
    checkers = {name: read for name, read in _build_field_checkers(cls).items() if name in values}
    try:
        return cls(**{name: read(values[name], name) for name, read in checkers.items()})
    except TypeError as error:
        raise ValueError(str(error)) from error


def check_json_value(kind: Any, value: Any, name: str) -> Any:
    """`value`, which came from JSON, as the annotation `kind` wants it.

    Args:
      kind: of float, int, str, bool, None, Any, list, dict, a TypedDict (of which no other fields
        are taken), a Literal of texts, a union of them, or one of these with `NumberRange`. JSON's
        names are text: of a dict[int, …] they become numbers.
      value: what was read.
      name: of the field, for the sentence.

    Raises:
      ValueError: it is something else; the name and the value are in the message.
    """
    return _build_value_checker(kind)(value, name)


@functools.cache
def _build_value_checker(kind: Any) -> _ValueChecker:
    """What checks a value of this annotation: made once, for a history has millions of fields."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value, name: value
    if origin is NotRequired:
        return _build_value_checker(arguments[0])
    if origin is Literal:
        return _build_literal_checker(arguments)
    if origin in (Union, types.UnionType):
        return _build_union_checker(arguments)
    if is_typeddict(kind):
        return _build_typed_dict_checker(kind)
    if origin is list:
        return _build_list_checker(arguments[0])
    if origin is dict:
        return _build_dict_checker(*arguments)
    bounds = arguments[1] if origin is Annotated else None
    return _build_scalar_checker(arguments[0] if bounds else kind, bounds)


def _build_field_checkers(cls: Any) -> dict[str, _ValueChecker]:
    return _build_field_checkers_once(cls)


@functools.cache
def _build_field_checkers_once(cls: Any) -> dict[str, _ValueChecker]:
    annotations = get_type_hints(cls, include_extras=True)
    return {field.name: _build_value_checker(annotations[field.name]) for field in dataclasses.fields(cls)}


def _build_scalar_checker(kind: type, bounds: NumberRange | None) -> _ValueChecker:
    types = _JSON_TYPES[kind]
    # Compared, not converted: an integer may be larger than any float. NaN is within nothing.
    bounds = bounds or {int: NumberRange(1 - _INTEGER_LIMIT, _INTEGER_LIMIT - 1), float: _FINITE}.get(kind)

    def check_scalar(value: Any, name: str) -> Any:
        if type(value) not in types or (bounds and not bounds.low <= value <= bounds.high):
            raise unexpected_value_error(name, value)
        if kind is str and not value.isascii():
            _check_encodable_text(value, name)
        return value

    return check_scalar


def _build_literal_checker(words: tuple[Any, ...]) -> _ValueChecker:
    def check_literal(value: Any, name: str) -> Any:
        if not isinstance(value, str) or value not in words:
            raise unexpected_value_error(name, value)
        return value

    return check_literal


def _check_encodable_text(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half a character, which no page can show
        raise unexpected_value_error(name, text) from error


def _build_union_checker(kinds: tuple[Any, ...]) -> _ValueChecker:
    may_be_none = types.NoneType in kinds
    readers = [_build_value_checker(kind) for kind in kinds if kind is not types.NoneType]

    def check_union(value: Any, name: str) -> Any:
        if value is None and may_be_none:
            return None
        for reader in readers[:-1]:
            with contextlib.suppress(ValueError):
                return reader(value, name)
        return readers[-1](value, name)

    return check_union


def _build_typed_dict_checker(kind: Any) -> _ValueChecker:
    readers = {
        name: _build_value_checker(annotation) for name, annotation in get_type_hints(kind, include_extras=True).items()
    }
    required = sorted(kind.__required_keys__)

    def check_typed_dict(value: Any, name: str) -> Any:
        if type(value) is not dict:
            raise unexpected_value_error(name, value)
        for key in required:
            if key not in value:
                raise ValueError(f"{key} is missing")
        return {
            field_name: readers[field_name](item, field_name)
            for field_name, item in value.items()
            if field_name in readers
        }

    return check_typed_dict


def _build_list_checker(kind: Any) -> _ValueChecker:
    value_checker, bounds = _build_value_checker(kind), find_number_range(kind)
    may_be_none = types.NoneType in get_args(kind)

    def check_list(value: Any, name: str) -> Any:
        if type(value) is not list:
            raise unexpected_value_error(name, value)
        if bounds and is_list_within(value, bounds, may_be_none):
            return value
        return [value_checker(item, name) for item in value]

    return check_list


def find_number_range(kind: Any) -> NumberRange | None:
    """The range of a kind that is a number, or None too; None if it is something else."""
    either = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    (wanted, *others) = [alternative for alternative in either if alternative is not types.NoneType]
    if others or get_origin(wanted) is not Annotated or get_args(wanted)[0] is not float:
        return None
    bounds: NumberRange = get_args(wanted)[1]
    return bounds


def is_list_within(values: list[Any], bounds: NumberRange, may_be_none: bool) -> bool:
    """Whether these are numbers in a range, without asking each; False: take a closer look."""
    value_types = set(map(type, values))
    if types.NoneType in value_types:
        if not may_be_none:
            return False
        value_types.discard(types.NoneType)
        values = [value for value in values if value is not None]
    if not value_types <= _JSON_TYPES[float]:
        return False
    # NaN, which a least and a most may pass by, is not in JSON as it is read.
    return not values or (bounds.low <= min(values) and max(values) <= bounds.high)


def _build_dict_checker(key: Any, kind: Any) -> _ValueChecker:
    value_checker, to_key = (
        _build_value_checker(kind),
        _parse_integer_key if key is int else _build_value_checker(key),
    )

    def check_dict(value: Any, name: str) -> Any:
        if type(value) is not dict:
            raise unexpected_value_error(name, value)
        return {to_key(text, name): value_checker(item, name) for text, item in value.items()}

    return check_dict


def _parse_integer_key(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise unexpected_value_error(name, text)
    return int(text)


def unexpected_value_error(name: str, value: Any) -> ValueError:
    """A field is not what it should be: the words for it."""
    return ValueError(f"{name} is {reprlib.repr(value)}")
