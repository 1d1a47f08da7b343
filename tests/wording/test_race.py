"""What is said of a race, case by case; and of who works and waits."""

from dataclasses import replace

import pytest

from ensemble.wording import race as devices_words
from tests.race.test_race import RACE

HALF = {1: 500.0, 2: 1000.0, 4: 1050.0}
TWICE = {1: 2000.0, 2: 4000.0, 4: 4200.0}


def with_rates(**rates: dict[int, float]):
    return replace(RACE, rates={**RACE.rates, **rates}, absent={})


def test_the_break_even_in_one_sentence() -> None:
    assert devices_words.describe_break_even(RACE) == (
        "This engine beats one member after another from M = 2 on (2.1 times as fast at M = 4) "
        "and the HOWTO's loop from M = 1 on (5.0 times as fast at M = 2)."
    )
    slow = with_rates(float32={1: 900.0, 2: 900.0, 4: 900.0})
    assert "does not beat one member after another here, with up to 4 members" in (
        devices_words.describe_break_even(slow)
    )
    assert devices_words.describe_break_even(replace(RACE, differences={"float32": 0.5})) == ""


@pytest.mark.parametrize(
    ("race", "said"),
    [
        (with_rates(bfloat16=TWICE), "bfloat16 is 2.0 times as fast as float32 here."),
        (
            with_rates(bfloat16=HALF),
            "bfloat16 is slower here and takes 2.0 times as long as float32: the processor has no bfloat16 units.",
        ),
        (
            replace(with_rates(bfloat16=HALF), fast_bfloat16=True),
            "bfloat16 is slower here and takes 2.0 times as long as float32.",
        ),
        (with_rates(bfloat16=RACE.rates["float32"]), "bfloat16 is about as fast as float32 here."),
        (RACE, "It has no units."),
    ],
    ids=["faster", "emulated", "slower all the same", "alike", "left out"],
)
def test_what_bfloat16_is_worth(race, said: str) -> None:
    assert devices_words.describe_bfloat16_gain(race) == said


def test_what_stands_beside_the_control_on_train() -> None:
    measured = devices_words.describe_bfloat16_support(with_rates(bfloat16=TWICE), "cpu", fast=True)
    assert measured == "Measured: bfloat16 is 2.0 times as fast as float32 here."
    assert "no bfloat16 units" in devices_words.describe_bfloat16_support(None, "cpu", fast=False)
    assert devices_words.describe_bfloat16_support(None, "cpu", fast=True) == ""
    assert devices_words.describe_bfloat16_support(None, "gpu", fast=False) == ""


def test_results_that_differ_are_named() -> None:
    assert devices_words.list_race_doubts(RACE) == []
    (doubt,) = devices_words.list_race_doubts(replace(RACE, differences={"one_by_one": 0.02}))
    assert doubt.startswith("One after another learnt something else than the HOWTO's loop (a loss")
    assert "by at most: this engine 0.0001 %" in devices_words.describe_loss_agreement(RACE)
