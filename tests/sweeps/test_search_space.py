"""Search spaces in words: read as they say, refused in a sentence where they cannot be."""

import itertools

import pytest

from ensemble.errors import ConfigError
from ensemble.sweeps.search_space import ValueList, ValueRange, build_grid, format_search_space, parse_search_space

SPACE = "learning_rate=0.01..0.5:log momentum=0.8,0.9 members=2..8 network=cnn,mlp flip=true,false"


def test_ranges_and_lists_are_read_by_their_settings_own_types() -> None:
    assert parse_search_space(SPACE) == {
        "learning_rate": ValueRange(0.01, 0.5, log=True),
        "momentum": ValueList((0.8, 0.9)),
        "members": ValueRange(2, 8, whole=True),
        "network": ValueList(("cnn", "mlp")),
        "flip": ValueList((True, False)),
    }
    assert all(type(one) is float for one in parse_search_space("epochs=1,2 momentum=0,0.5")["momentum"].values)


def test_what_was_read_is_written_as_it_stood() -> None:
    assert format_search_space(parse_search_space(SPACE)) == SPACE


def test_a_grid_is_the_cross_product_each_combination_once() -> None:
    found = build_grid(parse_search_space("momentum=0.8,0.9,0.8 members=2..4 flip=true,false"))
    expected = itertools.product((0.8, 0.9), (2, 3, 4), (True, False))
    assert [tuple(one.values()) for one in found] == list(expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rate=0.1", "space names 'rate'"),
        ("dataset=digits,mnist", "space names 'dataset'"),
        ("validation=0.1,0.2", "space names 'validation'"),
        ("momentum=0.8 momentum=0.9", "names momentum twice"),
        ("momentum=0.9..0.8", "the start of a range has to be below its end"),
        ("momentum=0..0.9:log", "with :log has to start above 0"),
        ("momentum=high", "write momentum=1..8"),
        ("momentum=0.5..1.5", "momentum is 1.5: it has to be a number from 0.0 to 0.999"),
        ("members=2.5..8", "members is 2.5: it has to be a whole number"),
        ("seed=0.5,1", "seed is 0.5: it has to be a whole number"),
        ("members=2..nan", "members is nan"),
        ("network=cnn,resnot", "network is 'resnot'"),
        ("flip=maybe", "flip is 'maybe'"),
    ],
)
def test_a_space_that_cannot_be_is_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_search_space(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("momentum=0.1..0.9", "write momentum=0.1,0.3 instead of a range"),
        ("seed=0..1000000", "more than 10,000 values of seed"),
        ("seed=0..999 members=2..13", "12,000 combinations"),
    ],
)
def test_a_grid_without_end_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build_grid(parse_search_space(text))
