"""JSON against annotations: what fits is taken as it is, all else is named in a ValueError."""

import json
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np
import pytest

from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.field_checks import (
    Count,
    MetricValue,
    Pid,
    Share,
    Time,
    check_json_value,
    find_number_range,
    is_list_within,
    parse_dataclass,
)

# All kinds of values that JSON has, and for each annotation those that are like it.
VALUES = [
    None,
    True,
    False,
    -1,
    0,
    1,
    0.5,
    1e308,
    10**400,
    "x",
    "\ud800",
    [],
    [1],
    [None],
    ["x"],
    {},
    {"x": 1},
    {"3": 0.5},
    [[1]],
]


class Apart(TypedDict):
    x: Count
    y: NotRequired[Share]


FIT: list[tuple[Any, list[Any]]] = [
    (float, [-1, 0, 1, 0.5, 1e308]),
    (int, [-1, 0, 1]),
    (bool, [True, False]),
    (str, ["x"]),
    (Count, [0, 1]),
    (Pid, [1]),
    (Time, [0, 1, 0.5]),
    (Share | None, [None, 0, 1, 0.5]),
    (Any, VALUES),
    (list[Share], [[], [1]]),
    (list[Share | None], [[], [1], [None]]),
    (list[str], [[], ["x"]]),
    (list[list[int]], [[], [[1]]]),
    (dict[str, Any], [{}, {"x": 1}, {"3": 0.5}]),
    (dict[str, int], [{}, {"x": 1}]),
    (Apart, [{"x": 1}]),
]


@pytest.mark.parametrize(("kind", "fitting"), FIT, ids=str)
def test_what_fits_is_taken_and_all_else_is_named(kind: Any, fitting: list[Any]) -> None:
    for value in VALUES:
        if any(type(one) is type(value) and one == value for one in fitting):
            assert check_json_value(kind, value, "field") == value
        else:
            with pytest.raises(ValueError, match=r"^(field|x) is "):
                check_json_value(kind, value, "field")


@dataclass(frozen=True)
class Status:
    pid: Pid | None = None
    name: str = ""


def test_a_dataclass_is_made_of_what_it_knows() -> None:
    assert parse_dataclass(Status, {"pid": 3, "later": []}) == Status(3)
    odd_ones: list[Any] = [None, [], "x", {"pid": -1}, {"pid": True}, {"pid": 3.0}, {"name": None}]
    for odd in odd_ones:
        with pytest.raises(ValueError, match=r"pid is|name is|it is not a JSON object"):
            parse_dataclass(Status, odd)


def test_names_that_stand_for_numbers_become_numbers() -> None:
    assert check_json_value(dict[int, Share], {"3": 0.5, "12": 1}, "rates") == {3: 0.5, 12: 1}
    for odd in ("x", "-1", "1.5", "", "٣", "9" * 5000):
        with pytest.raises(ValueError, match="rates is"):
            check_json_value(dict[int, Share], {odd: 0.5}, "rates")


def test_lists_of_numbers_are_seen_at_once_as_they_are_one_by_one() -> None:
    rng = np.random.default_rng(0)
    some = [None, 0, 1, 0.25, -0.5, 2, True, "x", [1], 1e39, 10**40, 1e-40]
    for _ in range(2000):
        values = [some[i] for i in rng.integers(len(some), size=rng.integers(4))]
        for kind in (Share, Share | None, MetricValue, MetricValue | None):
            if is_list_within(values, find_number_range(kind), kind != Share and kind != MetricValue):
                assert [check_json_value(kind, one, "one") for one in values] == values
            else:
                with pytest.raises(ValueError, match="is "):
                    check_json_value(list[kind], values, "one")  # type: ignore[valid-type]


def test_infinities_that_a_long_number_stands_for_are_refused() -> None:
    (value,) = parse_json(b"[1e999]")
    for kind in (float, MetricValue, Time):
        with pytest.raises(ValueError, match="field is inf"):
            check_json_value(kind, value, "field")
    assert json.loads("1e999") == value
