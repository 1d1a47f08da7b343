from dataclasses import replace

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.wording import run_names
from ensemble.wording.runs import member_settings

RATES = EnsembleConfig(members=8, vary="learning_rate=0.01..1:log momentum=0.8,0.9")


def test_a_line_says_what_each_member_gets() -> None:
    assert member_settings.describe_member_values(member_settings.collect_varied_settings(RATES)) == (
        "Members 1 to 8 get learning rate 0.01, 0.019, 0.037, … 1; momentum 0.8, 0.8, 0.8, … 0.9."
    )


def test_a_few_values_are_all_named() -> None:
    few = EnsembleConfig(members=3, vary="weight_decay=0,0.0001,0.01")
    assert (
        member_settings.describe_member_values(member_settings.collect_varied_settings(few))
        == "Members 1 to 3 get weight decay 0, 0.0001, 0.01."
    )


def test_values_that_are_close_are_told_apart() -> None:
    values = (0.8, 0.80123, 0.80456)
    assert member_settings.format_distinct_values(values) == ["0.8", "0.801", "0.805"]


@pytest.mark.parametrize(
    ("values", "said"), [((0.01, 0.1, 1.0), "0.01 to 1"), ((0.8, 0.8, 0.9), "0.8 and 0.9"), ((0.1, 0.1), "0.1")]
)
def test_all_values_at_once(values: tuple[float, ...], said: str) -> None:
    assert member_settings.format_value_range(values) == said


def test_members_are_named_with_their_values() -> None:
    names = member_settings.list_member_names(member_settings.collect_varied_settings(RATES), 8)
    assert names[0] == "member 1 · rate 0.01 · momentum 0.8"
    assert names[7] == "member 8 · rate 1 · momentum 0.9"


def test_a_text_that_says_nothing_yet_leaves_the_name_as_it_is() -> None:
    said = run_names.format_learner_settings(4, "cnn", 0.1, "digits", "learning_rate=")
    assert said == "4 members · rate 0.1 · digits"


@pytest.mark.parametrize(
    ("aside", "said"),
    [
        ({}, ""),
        ({3: 41}, "Member 4 was set aside: later epochs are without it."),
        ({2: 41}, "Member 3 was set aside: of later epochs member 3 here is the run's 4."),
        ({0: 3}, "Member 1 was set aside: of later epochs members 1 to 3 here are the run's 2 to 4."),
        ({0: 3, 2: 41}, "Members 1 and 3 were set aside: of later epochs members 1 and 2 here are the run's 2 and 4."),
    ],
)
def test_how_members_are_counted_is_said_where_some_were_set_aside(aside: dict[int, int], said: str) -> None:
    run = runs.create_run(EnsembleConfig(members=4, vary="momentum=0.1,0.2"))
    status = replace(run.status, set_aside=aside, steps=100, epochs=1)
    assert member_settings.describe_member_numbering(replace(run, status=status)) == said
