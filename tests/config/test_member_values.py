"""Settings that differ from member to member, as they are written."""

import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.config.member_values import format_member_values, parse_member_values
from ensemble.errors import ConfigError


def test_a_range_goes_from_its_first_value_to_its_last() -> None:
    found = parse_member_values("learning_rate=0.01..1:log momentum=0..0.8", 5)
    np.testing.assert_allclose(found["learning_rate"], [0.01, 10**-1.5, 0.1, 10**-0.5, 1])
    np.testing.assert_allclose(found["momentum"], [0, 0.2, 0.4, 0.6, 0.8])


def test_a_list_gives_each_value_to_as_many_members_as_the_others() -> None:
    assert parse_member_values("weight_decay=0,0.1", 4) == {"weight_decay": (0, 0, 0.1, 0.1)}
    assert parse_member_values("weight_decay=0,0.1,0.2", 4)["weight_decay"] == (0, 0, 0.1, 0.2)


def test_what_is_written_is_read_again_to_the_bit() -> None:
    found = parse_member_values("learning_rate=0.013..1:log weight_decay=0..1e-3", 7)
    assert parse_member_values(format_member_values(found), 7) == found


def test_every_member_has_a_value_of_each_and_those_not_named_the_runs_own() -> None:
    config = EnsembleConfig(members=2, momentum=0.5, vary="learning_rate=0.1,0.2")
    assert config.member_values == {"learning_rate": (0.1, 0.2), "momentum": (0.5, 0.5), "weight_decay": (0.0, 0.0)}


@pytest.mark.parametrize(
    "text",
    [
        "batch_size=1,2",
        "learning_rate=0..1:log",
        "learning_rate=1..0.1",
        "learning_rate=x",
        "momentum=0.1,2",
        "learning_rate=0.1 learning_rate=0.2",
        "momentum=1,2,3,4,5",
        "learning_rate=nan",
        "learning_rate=0.1..inf",
        "learning_rate=",
        "0.1",
        "a b",
        "learning_rate=1e400",
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match=r"vary|momentum|learning_rate"):
        EnsembleConfig(members=4, vary=text)
